-- products.lua: lowers a product as planned: one kernel.
local operands = require("data.operands")
local types = require("data.types")

local products = {}

-- Emits a product as planned. joint: of plan/joints.lua; a trace fuses nothing.
local function emit(self, shape, planned, a, b, c, outputs, sizes, joint)
  shape.a_room, shape.strips, shape.fetch, shape.open = planned.a_room, planned.strips, planned.fetch, planned.open
  self:emit { form = "product", kernel = shape, outputs = outputs, arguments = { a = a, b = b, c = c }, sizes = sizes,
    joint = self.variant == "ship" and joint or nil }
end

--- Emits C[n][m] (+)= B[n][k] A[k][m] for an attention; a method of the lowering. outputs: how many of the m are
--- wanted, if the kernel makes more; a_room: whether rows of A may be read up to a whole vector; sizes: the symbols of
--- open sizes; joint: of plan/joints.lua.
function products.product(self, shape, a, b, c, outputs, a_room, sizes, joint)
  shape.types, shape.a_room, shape.open = shape.types or types.f32_product, a_room or false, sizes
    and operands.open_text(sizes)
  local planned = self.region.product_of(shape)
  assert(planned ~= shape, "a product that is not planned")
  emit(self, shape, planned, a, b, c, outputs or shape.m, sizes, joint or planned.joint)
end

--- Emits C[n][m] = B[n][k] A[k][m] for a fusion's product; a method of the lowering.
--- planned: of plan/products.lua; strides: { ldb, ldc }; outputs: as for a product
function products.tile(self, planned, strides, a, b, c, outputs)
  local shape = { m = planned.m, n = planned.n, k = planned.k, lda = planned.lda, ldb = strides.ldb, ldc = strides.ldc,
    beta = 0, types = planned.types }
  emit(self, shape, planned, a, b, c, outputs, planned.open and { n = self.open.rows } or nil, planned.joint)
end

return products
