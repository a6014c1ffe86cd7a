-- bound.lua: lists the distinct products of an entry, with the tiles that `bench --bound` tries for each.
-- Products that differ only in their epilogue share their tiles. Convolutions, and other types than f32, have none.
local all_regions = require("passes.common.regions")
local candidates = require("passes.plan.candidates")
local divide = require("passes.common.divide")
local ops = require("data.ops")
local targets = require("data.targets")
local types = require("data.types")

local bound = {}

-- Returns the tiles of all candidates of a product, as candidates.tiles.
local function tiles_of(product, target)
  local list = {}
  for i, choice in ipairs(candidates.of(product, "libxsmm")) do list[i] = candidates.tiles(product, choice, target) end
  return list
end

local function product_of(state, fusion, region)
  local shape, parameters = fusion.leading.operands.weight.shape, state.plan.parameters
  local product = { name = fusion.key, fusion = fusion, region = region, calls = 0,
    outputs = shape[1], inputs = shape[2], rows = region.rows,
    ldb = math.max(shape[2], state.plan.storage[fusion.leading.operands.x.name].leading_dimension),
    ldc = divide.leading_dimension(shape[1], parameters, "f32"), pad = parameters.pad }
  if fusion.types == types.f32_product and not ops.class(fusion.leading).windows
    and not fusion.leading.operands.pairs then
    local target = targets.by_name[state.spec.target]
    product.candidates = state.plan.memoise("candidates", function() return tiles_of(product, target) end,
      product.outputs, product.inputs, product.rows)
  end
  return product
end

--- Returns the distinct products, in order of first appearance: { name: its key, fusion, region: of its first
--- appearance, calls: how often a call of the entry makes it, outputs, inputs, rows, ldb, ldc, pad, candidates: tiles,
--- or nil }.
function bound.of(state, segments)
  local list, by_name = {}, {}
  for region, segment in all_regions(segments) do
    for _, fusion in ipairs(region.fusions) do
      local name = fusion.key
      if name and not by_name[name] then
        by_name[name] = product_of(state, fusion, region)
        list[#list + 1] = by_name[name]
      end
      if name then by_name[name].calls = by_name[name].calls + segment.repeats end
    end
  end
  return list
end

return bound
