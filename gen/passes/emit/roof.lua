-- roof.lua: chooses the products in C whose rate is the roof of `bench`.
-- Their strips fill the target's registers best, and their operands stay in the cache. They have the number type that
-- the model's precision names first.
local forms = require("kernels.forms")
local product = require("kernels.product")
local registers = require("passes.plan.registers")
local targets = require("data.targets")
local tiles = require("kernels.tiles")
local types = require("data.types")

local roof = {}

-- Sizes of the shapes; VECTORS are vectors of outputs. runtime/measure/roof.h has the limits of a shape.
local VECTORS, ROWS, K, LDB = { 2, 3, 4 }, 24, 768, 784

--- Returns the values of roof.c.in: roof = shapes with their code, strips = the functions that they need.
function roof.values(state)
  local target = targets.by_name[state.spec.target]
  local of, list = types.product(types.of_word[state.spec.precision.all], target.bf16_rows), {}
  local rows = forms.in_tiles(of, target) and 2 * tiles.SIDE or ROWS
  for i, vectors in ipairs(VECTORS) do
    local m = vectors * target.vector
    local kernel = { m = m, n = rows, k = K, lda = m, ldb = LDB, ldc = m, types = of, a_room = true,
      strips = registers.strips(m, rows, K, target, rows, false, of) }
    kernel.code = product.body(kernel, target.vector, 0, "a", "b")
    list[i] = kernel
  end
  local plain, form = of == types.f32_product, forms.all[list[1].strips.form]
  return { roof = list, strips = product.strips(list), includes = product.includes(list),
    casts = not plain and { a = types.c(of.a), b = types.c(of.b), c = types.c(of.c) } or false,
    flushes = of.a == "bf16", peak = form.peak or false, sum = form.sum, in_tiles = form.in_tiles or false }
end

return roof
