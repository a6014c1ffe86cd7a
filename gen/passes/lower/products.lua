-- products.lua: lowers a product as planned: one kernel.
local operands = require("data.operands")
local types = require("data.types")

local products = {}

-- Emits a product as planned. arguments: { a, b, c }; step: further fields of the step. A trace fuses nothing.
local function emit(self, shape, planned, arguments, step)
  shape.a_room, shape.strips, shape.fetch, shape.open = planned.a_room, planned.strips, planned.fetch, planned.open
  shape.by_libxsmm = planned.by_libxsmm
  shape.experts, shape.apart = planned.experts, planned.apart
  shape.piece, shape.panel_inputs = planned.piece, planned.panel_inputs
  step.form, step.kernel, step.arguments = "product", shape, arguments
  step.fused_sums = self.variant == "ship" and step.fused_sums or nil
  self:emit(step)
end

--- Emits C[n][m] (+)= B[n][k] A[k][m] for an attention; a method of the lowering.
--- arguments: { a, b, c }
--- how, if not all have their defaults:
---   outputs     how many of the m are wanted, if the kernel makes more
---   a_room      true: rows of A may be read up to a whole vector
---   sizes       the symbols of open sizes
---   fused_sums  of plan/fused_kernels.lua
function products.product(self, shape, arguments, how)
  how = how or {}
  shape.types, shape.a_room, shape.open = shape.types or types.f32_product, how.a_room or false, how.sizes
    and operands.open_text(how.sizes)
  local planned = self.region.product_of(shape)
  assert(planned ~= shape, "a product that is not planned")
  emit(self, shape, planned, arguments, { outputs = how.outputs or shape.m, sizes = how.sizes,
    fused_sums = how.fused_sums or planned.fused_sums })
end

--- Emits C[n][m] = B[n][k] A[k][m] for a fusion's product; a method of the lowering.
--- planned: of plan/products.lua; strides: { ldb, ldc }; arguments, outputs: as for a product
function products.tile(self, planned, strides, arguments, outputs)
  local shape = { m = planned.m, n = planned.n, k = planned.k, lda = planned.lda, ldb = strides.ldb, ldc = strides.ldc,
    beta = 0, types = planned.types }
  local n = planned.open and self.open.rows
  emit(self, shape, planned, arguments, { outputs = outputs, sizes = n and { n = n } or nil,
    fused_sums = planned.fused_sums })
end

--- Emits a fusion's product of windows of three rows, two rows apart, in pairs (Winograd's F(2, 2)): of the weights w0,
--- w1 and w2 of a window's rows, what both windows of a pair have, x2 (w0 + w2), then for each of them the rest, of the
--- pair's rows x0 - x2, x1, x3 and x4 - x2. A method of the lowering.
--- sum: the name of a scratch buffer; strides: as for a tile, and of pairs; arguments: as for a tile, and pairs
function products.tile_of_pairs(self, planned, sum, strides, arguments, outputs)
  local third, lda, ldc = planned.parts[1].k, planned.lda, 2 * strides.ldc
  local a, b, c, pairs_ = arguments.a, arguments.b, arguments.c, arguments.pairs
  local function after(operand, elements) return self:before(operand, -elements, "f32") end
  local function part(of, ldb, beta, places)
    emit(self, { m = of.m, n = of.n, k = of.k, lda = lda, ldb = ldb, ldc = ldc, beta = beta, types = of.types }, of,
      places, { outputs = outputs })
  end
  local of_both, of_first, of_second = table.unpack(planned.parts)
  local both = self:in_arena(sum .. lda, 0, "f32")
  self:scratch(both.buffer, third, lda)
  self:row("add_rows", { rows = third, cols = lda, ldx = lda, ldy = lda },
    { y = both, x = a, z = after(a, 2 * third * lda) })
  part(of_both, 2 * strides.ldb, 0, { a = both, b = after(b, 2 * third), c = c })
  self:row("copy", { rows = of_second.n, cols = planned.m, ldx = ldc, ldy = ldc }, { y = after(c, strides.ldc), x = c })
  part(of_first, strides.pairs, 1, { a = a, b = pairs_, c = c })
  part(of_second, strides.pairs, 1,
    { a = after(a, third * lda), b = after(pairs_, 2 * third), c = after(c, strides.ldc) })
end

return products
