-- fused_kernels.lua: decides which products of bf16 and int8 are fused with the map after them, strip by strip.
-- The map reads a strip's sums while they are in the first-level cache. If only the map reads them, they are just on
-- the stack. Products are so fast that storing a tile in the second-level cache and loading it again takes 7% of the
-- time in bf16, 15% in int8. A product of bf16 that reads rows of floats (bf16_floats) is not fused. It is as slow as
-- one of f32, and its strips are so narrow that the beginnings and ends of a map's rows cost more than is gained.
local all_regions = require("passes.common.regions")
local forms = require("data.storage")
local kernel_forms = require("kernels.forms")

local fused_kernels = {}

-- True if the first map after a product of a fusion works on all of its rows. A table of positions begins again with
-- each sequence, so a map that adds one works on the rows of one.
local function takes_all_rows(fusion)
  for _, op in ipairs(fusion.epilogue) do
    local b = op.operands.b
    if b and (b.kind == "weight" or b.kind == "constant") and #b.shape > 1 then return false end
  end
  return true
end

-- Returns where the sums of a fused product of this fusion are: "stack" if its map loads them and nobody else reads
-- them, "place" if it works on them where the result is; nil if no map is right after the product.
local function sums_of(state, fusion)
  local stored, round = state.plan.storage, fusion.round
  local is_packed = round and forms.packed(stored[round.result.name])
  if round and not is_packed and forms.is_of_unit(stored[fusion.result.name]) then return "stack" end
  if not fusion.leading.operands.bias and #fusion.epilogue == 0 then return nil end
  return fusion.sums and "stack" or "place"
end

-- True if a product may be fused with a map: its types are narrow, and its sums not in tiles.
local function may_fuse(product)
  local form = kernel_forms.all[product.strips.form]
  return product.types.b ~= "f32" and not form.in_tiles and not form.in_blocks
end

-- True if a block's context is one product that nothing repairs, and its rounding is the step after it.
local function rounds_at_once(state, region, block)
  local range, scores, context = block.ranges[1], region.scores, region.context
  if not region.round or region.open or block.chunks or region.weight_scale or #block.ranges > 1
    or not forms.is_of_unit(state.plan.storage[context.result.name]) then
    return false
  end
  if range.cut or scores.operands.lengths or context.attributes.nonzero then return false end
  for _, product in ipairs(region.products) do
    if product.what == "context" and product.n == block.count and product.k == range.keys then
      return may_fuse(product)
    end
  end
  return false
end

-- Fuses the products of an attention's integers with the maps that scale them. The scores of any number of keys have
-- maps of any number of columns, which are not fused.
local function fuse_integers(region)
  for _, product in ipairs(region.products) do
    local is_open_score = region.open and product.what == "scores"
    if product.types.sum == "i32" and may_fuse(product) and not is_open_score then product.fused_sums = "stack" end
  end
end

--- Sets the field `fused_sums` of the products of fusions that are fused: where the sums are, "stack" or "place". In an
--- attention of floats, fused_contexts says it of the context of each block.
function fused_kernels.decide(state, segments)
  for region in all_regions(segments) do
    if region.kind == "attention" then fuse_integers(region) end
    for _, block in ipairs(region.kind == "attention" and region.blocks or {}) do
      region.fused_contexts = region.fused_contexts or {}
      region.fused_contexts[block] = rounds_at_once(state, region, block) and "stack" or nil
    end
    for _, fusion in ipairs(region.fusions) do
      local place = fusion.products and not fusion.experts and takes_all_rows(fusion) and sums_of(state, fusion) or nil
      for _, list in pairs(place and fusion.products or {}) do
        for _, product in ipairs(list) do
          if may_fuse(product) then product.fused_sums = place end
        end
      end
    end
  end
end

return fused_kernels
