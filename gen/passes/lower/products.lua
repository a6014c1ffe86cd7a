-- products.lua: lowers a product as planned: one kernel in C, or kernels of libxsmm, one or a tile of several.
local operands = require("data.operands")
local types = require("data.types")

local products = {}

local ONE_BLOCK = { count = 1, a = 0, b = 0 }

-- Gives a shape what plan/products.lua has decided for it.
local function take(shape, planned)
  shape.a_room, shape.strips, shape.fetch, shape.fallback = planned.strips and planned.a_room, planned.strips,
    planned.fetch, planned.fallback
  shape.open = planned.open
end

--- Emits C[n][m] (+)= sum of B[n][k] A[k][m] over count blocks, for an attention; a method of the lowering. The blocks
--- follow each other in A's rows and B's columns. outputs: how many of the m are wanted, if the kernel makes more;
--- a_room: whether rows of A may be read up to a whole vector; sizes: the symbols of open sizes.
function products.product(self, shape, count, a, b, c, outputs, a_room, sizes)
  shape.types, shape.a_room, shape.open = shape.types or types.f32_product, a_room or false, sizes
    and operands.open_text(sizes)
  local planned = self.region.product_of(shape)
  assert(planned ~= shape, "a product that is not planned")
  take(shape, planned)
  local a_stride, b_stride = count > 1 and shape.k * shape.lda or 0, count > 1 and shape.k or 0
  local batch = { count = count, a = types.bytes(a_stride, shape.types.a), b = types.bytes(b_stride, shape.types.b) }
  self:emit { form = "product", kernel = shape, batch = batch, arguments = { a = a, b = b, c = c },
    outputs = outputs or shape.m, sizes = sizes }
end

-- Returns planned calls with their kernels, batches and bytes from A, B and C. A distinct tile is emitted once, and
-- its calls count once for the budget.
local function tile_calls(self, shape, planned)
  if #planned > 1 then self.tile_lines = self.tile_lines + #planned end
  if self.lines + self.tile_lines > self.budget then self:over_budget() end
  local list = {}
  local of = shape.types
  for i, call in ipairs(planned) do
    local kernel = { m = shape.m, n = call.rows, k = call.size, lda = shape.lda, ldb = shape.ldb, ldc = shape.ldc,
      beta = call.beta, types = of, fallback = call.fallback }
    local stride = call.blocks > 1 and call.size or 0
    list[i] = { kernel = kernel,
      batch = { count = call.blocks, a = types.bytes(stride * shape.lda, of.a), b = types.bytes(stride, of.b) },
      a = types.bytes(call.first * shape.lda, of.a), b = types.bytes(call.row * shape.ldb + call.first, of.b),
      c = types.bytes(call.row * shape.ldc, of.c), fetch = call.fetch }
  end
  return list
end

--- Emits C[n][m] = B[n][k] A[k][m] for a fusion's product, by a kernel in C or by calls; a method of the lowering. A
--- single call that fetches nothing is a product; any other list is a tile, a product with calls of its own. Equal
--- tiles share one list of them. planned: of plan/products.lua; strides: { ldb, ldc }; outputs: as for a product.
function products.tile(self, planned, strides, a, b, c, outputs)
  local shape = { m = planned.m, n = planned.n, k = planned.k, lda = planned.lda, ldb = strides.ldb, ldc = strides.ldc,
    beta = 0, types = planned.types }
  take(shape, planned)
  local list = planned.calls and self.memoise("tile", function() return tile_calls(self, shape, planned.calls) end,
    planned.calls, shape.m, shape.ldb, shape.ldc)
  local only = list and #list == 1 and not list[1].fetch and list[1]
  self:emit { form = "product", kernel = only and only.kernel or shape, batch = only and only.batch or ONE_BLOCK,
    calls = not only and list or nil, outputs = outputs, arguments = { a = a, b = b, c = c },
    sizes = planned.open and { n = self.open.rows } or nil }
end

return products
