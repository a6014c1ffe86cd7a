-- roof: the products in C whose rate is the roof of `bench`: the strips that fill the target's
-- registers best, on operands that stay in the cache.
local product = require("kernels.product")
local registers = require("passes.plan.registers")
local targets = require("data.targets")
local types = require("data.types")

local roof = {}

-- Vectors of outputs. runtime/measure/roof.h says what a shape may be.
local VECTORS, ROWS, K, LDB = { 2, 3, 4 }, 24, 768, 784

--- The values of roof.c.in: roof = shapes with their code, strips = the functions that they need.
function roof.values(state)
  local target = targets.by_name[state.spec.target]
  local list = {}
  for i, vectors in ipairs(VECTORS) do
    local m = vectors * target.vector
    local kernel = { m = m, n = ROWS, k = K, lda = m, ldb = LDB, ldc = m, types = types.f32_product, a_room = true,
      strips = registers.strips(m, ROWS, K, target, ROWS) }
    kernel.code = product.body(kernel, target.vector, 0, "a", "b")
    list[i] = kernel
  end
  return { roof = list, strips = product.strips(list) }
end

return roof
