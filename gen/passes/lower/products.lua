-- products.lua: lowers a product as planned: one kernel.
local operands = require("data.operands")
local types = require("data.types")

local products = {}

-- Emits a product as planned. arguments: { a, b, c }; step: further fields of the step. A trace fuses nothing.
local function emit(self, shape, planned, arguments, step)
  shape.a_room, shape.strips, shape.fetch, shape.open = planned.a_room, planned.strips, planned.fetch, planned.open
  shape.by_libxsmm = planned.by_libxsmm
  shape.experts, shape.apart, shape.piece = planned.experts, planned.apart, planned.piece
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

return products
