-- products.lua: lowers a product: one kernel in C, or kernels of libxsmm, one or a tile of several.
local registers = require("passes.plan.registers")
local targets = require("data.targets")
local tiles = require("passes.plan.tile")
local types = require("data.types")

local products = {}

local ONE_BLOCK = { count = 1, a = 0, b = 0 }

-- Emits a product whose kernel is a C function of its own (kernels/). p: its tile parameters; a_room: whether rows of
-- A have capacity up to a whole vector; fetch: of tile.ahead, or nil.
local function c_product(self, shape, p, a_room, fetch, operands, outputs)
  local target = targets.by_name[self.state.spec.target]
  shape.a_room = a_room or shape.m % target.vector == 0
  local function make()
    return registers.strips(shape.m, shape.n, shape.k, target, p.call_rows, not shape.a_room, shape.types)
  end
  local strips = self.state.plan.memoise("strips", make, shape.m, shape.n, shape.k, p.call_rows,
    shape.a_room and "room" or "cut", shape.types)
  shape.strips = strips
  if fetch then
    local function ahead() return tiles.ahead(shape, strips, p, target.vector) end
    shape.fetch = self.state.plan.memoise("ahead", ahead, shape.m, shape.n, shape.k, shape.lda, p.call_rows, p.fetch,
      p.stream, shape.types) or nil
  end
  self:emit { form = "product", kernel = shape, batch = ONE_BLOCK, arguments = operands, outputs = outputs }
end

--- Emits C[n][m] (+)= sum of B[n][k] A[k][m] over count blocks; a method of the lowering. The blocks follow each
--- other in A's rows and B's columns. outputs: how many of the m are wanted, if the kernel makes more; a_room:
--- whether rows of A may be read up to a whole vector.
function products.product(self, shape, count, a, b, c, outputs, a_room)
  shape.types = shape.types or types.f32_product
  local p, operands = self.state.plan.parameters, { a = a, b = b, c = c }
  if p.kernels == "c" then
    shape.k = shape.k * count
    return c_product(self, shape, p, a_room, false, operands, outputs or shape.m)
  end
  local a_stride, b_stride = count > 1 and shape.k * shape.lda or 0, count > 1 and shape.k or 0
  local batch = { count = count, a = types.bytes(a_stride, shape.types.a), b = types.bytes(b_stride, shape.types.b) }
  self:emit { form = "product", kernel = shape, batch = batch, arguments = operands, outputs = outputs or shape.m }
end

-- Returns the calls of tile.lua with their kernels, batches and bytes from A, B and C. A distinct tile is emitted
-- once, and its calls count once for the budget.
local function tile_calls(self, shape, k_blocks, parameters)
  local strips = (shape.n + parameters.call_rows - 1) // parameters.call_rows
  local calls_each = (parameters.k_order == "reduce" and 1 or k_blocks.count) + (k_blocks.tail > 0 and 1 or 0)
  if strips * calls_each > 1 then self.tile_lines = self.tile_lines + strips * calls_each end
  if self.lines + self.tile_lines > self.budget then self:over_budget() end
  local list = {}
  local of = shape.types
  for i, call in ipairs(tiles.calls(shape.n, shape.lda, k_blocks, parameters, of.a)) do
    local kernel = { m = shape.m, n = call.rows, k = call.size, lda = shape.lda, ldb = shape.ldb, ldc = shape.ldc,
      beta = call.beta, types = of }
    local stride = call.blocks > 1 and call.size or 0
    list[i] = { kernel = kernel,
      batch = { count = call.blocks, a = types.bytes(stride * shape.lda, of.a), b = types.bytes(stride, of.b) },
      a = types.bytes(call.first * shape.lda, of.a), b = types.bytes(call.row * shape.ldb + call.first, of.b),
      c = types.bytes(call.row * shape.ldc, of.c), fetch = call.fetch }
  end
  return list
end

--- Emits C[n][m] = B[n][k] A[k][m] for a fusion's product, by a kernel in C or by the calls of tile.lua; a method of
--- the lowering. A single call that fetches nothing is a product; any other list is a tile, a product with calls of
--- its own. Equal tiles share one list of them. outputs: as for a product.
function products.tile(self, shape, fusion, a, b, c, outputs)
  local k, p = fusion.k_blocks, fusion.parameters
  if p.kernels == "c" then return c_product(self, shape, p, true, true, { a = a, b = b, c = c }, outputs) end
  local function make() return tile_calls(self, shape, k, p) end
  local list = self.state.plan.memoise("tile", make, shape.m, shape.n, shape.k, shape.lda, shape.ldb,
    shape.ldc, k.size, p.k_order, p.call_rows, p.k_panel, p.fetch)
  local only = #list == 1 and not list[1].fetch and list[1]
  self:emit { form = "product", kernel = only and only.kernel or shape,
    batch = only and only.batch or ONE_BLOCK, calls = not only and list or nil, outputs = outputs,
    arguments = { a = a, b = b, c = c } }
end

return products
