-- roof.lua: decides the products in C whose rate is the roof of `bench`.
-- Their strips fill the target's registers best, and their operands stay in the cache. They have the number type that
-- the model's precision names first.
local forms = require("kernels.forms")
local registers = require("passes.plan.registers")
local targets = require("data.targets")
local tiles = require("kernels.tiles")
local types = require("data.types")

local roof = {}

-- Sizes of the shapes; VECTORS are vectors of outputs. runtime/measure/roof.h has the limits of a shape.
local VECTORS, ROWS, K, LDB = { 2, 3, 4 }, 24, 768, 784

--- Returns the shapes with their strips.
function roof.of(spec)
  local target = targets.by_name[spec.target]
  local word, list = spec.precision.all, {}
  local of = types.product(types.of_word[word], targets.rows(spec.target, word))
  local rows = forms.in_tiles(of, target) and 2 * tiles.SIDE or ROWS
  for i, vectors in ipairs(VECTORS) do
    local m = vectors * target.vector
    list[i] = { what = "roof", m = m, n = rows, k = K, lda = m, ldb = LDB, ldc = m, types = of, a_room = true,
      strips = registers.strips(m, rows, K, target, rows, false, of) }
  end
  return list
end

return roof
