-- importance.lua: gives products in scale blocks of few bits the importance of their inputs, for better rounding.
-- An input's importance is the mean square of its activations, which `calibrate` measures, as a power of two. Packing
-- weighs the squared errors of a weight's inputs by it (runtime/packing/scale_search.h). Weights keep their values.
local faults = require("common.faults")
local types = require("data.types")

local importance = {}

function importance.product_of(weight) return (weight.name:gsub("%.weight$", "")) end

-- True if the packer searches the scales of a weight's type, and the order of its inputs is known here. Inputs in the
-- order of a checkpoint's groups are known when a model is opened, and the checkpoint's own scales are kept.
local function is_searched(weight)
  local block = types.all[weight.type].block
  return block ~= nil and block.bits <= types.SEARCHED_BITS and not block.values and not weight.in_groups
end

--- Returns the inputs of such products, in order: { { x = tensor, weights, products = paths, width } }. A weight that
--- several inputs are multiplied with is in the group of the first.
function importance.groups(entry)
  local of, known, groups = {}, {}, {}
  for _, op in ipairs(entry.ops) do
    if op.op == "quantise_blocks" or op.op == "quantise_blocks_finely" then
      of[op.result] = { x = op.operands.x, weights = {}, products = {},
        width = op.operands.x.shape[#op.operands.x.shape] }
      groups[#groups + 1] = of[op.result]
    end
    local weight = op.op == "linear" and op.operands.weight
    local group = weight and of[op.operands.x]
    if group and is_searched(weight) and not known[weight] then
      known[weight] = true
      table.insert(group.weights, weight)
      table.insert(group.products, importance.product_of(weight))
    end
  end
  local list = {}
  for _, group in ipairs(groups) do if #group.weights > 0 then list[#list + 1] = group end end
  return list
end

--- Gives the weights of a graph's entry the importance that a file has. given: the result of factors.given. Returns the
--- number of weights that have it, and of those that may have it. Faults: usage.
function importance.apply(entry, given)
  local count, all = 0, 0
  for _, group in ipairs(importance.groups(entry)) do
    for _, weight in ipairs(group.weights) do
      local found = given.weighed[importance.product_of(weight)]
      all = all + 1
      if found and #found.powers ~= group.width then
        faults.raise("usage", "%s: %s has %d inputs, but the importance of %d; calibrate again, or --factors=none",
          given.file, importance.product_of(weight), group.width, #found.powers)
      end
      if found then
        count = count + 1
        weight.factors = { powers = found.powers, sign = 0, checksum = found.checksum }
      end
    end
  end
  return count, all
end

return importance
