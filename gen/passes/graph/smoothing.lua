-- smoothing.lua: applies factors against outliers, so that int8 loses less (SmoothQuant, Xiao et al. 2022).
-- Channels of large activations are divided by a power of two before they are quantised, and the weights that read
-- them are multiplied by it. If a norm makes the numbers only for int8 products, its gain and bias take the
-- division; else `quantise` has the factors as an operand. Powers of two make all of these products exact.
local faults = require("common.faults")
local importance = require("passes.graph.importance")
local precision = require("data.precision")
local words = require("common.words")

local smoothing = {}

local norms = words.set { "layer_norm", "rms_norm" }
local products = words.set { "linear", "linear_integers" }

local product_of = importance.product_of

-- Merges two groups. of_weight: weight -> its group.
local function merge(group, other, of_weight)
  for _, weight in ipairs(other.weights) do of_weight[weight] = group end
  for _, key in ipairs { "inputs", "weights", "products" } do
    table.move(other[key], 1, #other[key], #group[key] + 1, group[key])
  end
  other.is_gone = true
end

--- Returns the groups of int8 products' inputs that must have the same factors, because one product reads them
--- (layers may share weights), in order: { { inputs = { { op, scale_op, x } }, weights, products = paths, width } }.
function smoothing.groups(entry)
  local scale_of, readers, of_weight, groups = {}, {}, {}, {}
  for _, op in ipairs(entry.ops) do
    if op.op == "row_scale" then scale_of[op.result] = op end
    if op.op == "linear_integers" then words.add(readers, op.operands.x, op.operands.weight) end
  end
  for _, op in ipairs(entry.ops) do
    local read_by = op.op == "quantise" and readers[op.result]
    if read_by then
      local group
      for _, weight in ipairs(read_by) do
        local other = of_weight[weight]
        if other and group and other ~= group then merge(group, other, of_weight) end
        group = group or other
      end
      if not group then
        group = { inputs = {}, weights = {}, products = {}, width = op.operands.x.shape[#op.operands.x.shape] }
        groups[#groups + 1] = group
      end
      table.insert(group.inputs, { op = op, scale_op = scale_of[op.operands.scale], x = op.operands.x })
      for _, weight in ipairs(read_by) do
        if not of_weight[weight] then
          of_weight[weight] = group
          table.insert(group.weights, weight)
          table.insert(group.products, product_of(weight))
        end
      end
    end
  end
  return words.filter(groups, function(group) return not group.is_gone end)
end

-- Returns the norm that makes x only for `quantise`, or nil.
local function norm_of(entry, input)
  local maker
  if input.x.kind ~= "scratch" then return nil end
  for _, op in ipairs(entry.ops) do
    if op.result == input.x then maker = norms[op.op] and op.operands.gain and op end
    for _, operand in pairs(op.operands) do
      if operand == input.x and op ~= input.op and op ~= input.scale_op then return nil end
    end
  end
  return maker
end

-- Returns the norms of a group's inputs if each makes its input only for the group, else nil.
local function norms_of(entry, group)
  local own, list = {}, {}
  for i, input in ipairs(group.inputs) do
    list[i] = norm_of(entry, input)
    if not list[i] then return nil end
    own[list[i]] = true
  end
  for _, op in ipairs(entry.ops) do
    for _, norm in ipairs(list) do
      local shares = norms[op.op] and op.operands.gain == norm.operands.gain
      if shares and not own[op] then return nil end
    end
  end
  return list
end

-- Returns the powers that a file gives a group (all of its products have the same), or nil if it gives none.
local function powers_of(group, given)
  local powers = given.of[group.products[1]]
  for _, product in ipairs(group.products) do
    local other = given.of[product]
    if powers and other and #other ~= group.width then
      faults.raise("usage", "%s: %s has %d inputs, but %d factors; calibrate again, or --factors=none", given.file,
        product, group.width, #other)
    end
    if (powers and table.concat(powers, " ")) ~= (other and table.concat(other, " ")) then
      faults.raise("usage", "%s: %s and %s read the same numbers, but their factors differ; calibrate again, or "
        .. "--factors=none", given.file, group.products[1], product)
    end
  end
  return powers
end

-- Refuses factors of products that the model does not have. A product of another type needs none.
local function check_known(self, given)
  local known = {}
  for _, op in ipairs(self.entry.ops) do
    if products[op.op] then known[product_of(op.operands.weight)] = true end
  end
  for _, of in ipairs { given.of, given.weighed } do
    for _, product in ipairs(words.sorted_keys(of)) do
      if not known[product] then
        faults.raise("usage", "%s: the model has no product %s; calibrate again, or --factors=none", given.file,
          product)
      end
    end
  end
end

--- Applies factors, and the importance of inputs, to a builder's graph. given: the result of factors.given. Returns {
--- inputs = the number of sets of products with factors, all = the number of sets, folded = the number of sets whose
--- factors are in norms, weighed = the number of weights with the importance of their inputs, in_blocks = of those that
--- may have it }, or nil if nothing is applied. Faults: usage, if the factors are of another model, or were asked for
--- and no product takes any.
function smoothing.apply(self, given)
  if not given then return nil end
  local entry = self.entry
  local groups, count, folded = smoothing.groups(entry), 0, 0
  if #groups + #importance.groups(entry) == 0 then
    if given.asked then
      faults.raise("usage", "%s: no product is of %s (key precision), nor of 4 bits (key weights) without an order of "
        .. "inputs; others take no factors", given.file, precision.with_factors)
    end
    return nil
  end
  check_known(self, given)
  local weighed, in_blocks = importance.apply(entry, given)
  for _, group in ipairs(groups) do
    local powers = powers_of(group, given)
    if powers then
      count = count + 1
      local of_norms = norms_of(entry, group)
      for _, weight in ipairs(group.weights) do
        weight.factors = { powers = powers, sign = 1, checksum = given.checksums[product_of(weight)] }
      end
      for _, norm in ipairs(of_norms or {}) do
        norm.operands.gain.factors = { powers = powers, sign = -1 }
        if norm.operands.bias then norm.operands.bias.factors = { powers = powers, sign = -1 } end
      end
      if of_norms then
        folded = folded + 1
      else
        local operand = self:constant(group.products[1] .. ".factors", { group.width }, "ones")
        operand.factors = { powers = powers, sign = -1 }
        for _, input in ipairs(group.inputs) do
          input.op.operands.factors, input.scale_op.operands.factors = operand, operand
        end
      end
    end
  end
  return count + weighed > 0
    and { inputs = count, all = #groups, folded = folded, weighed = weighed, in_blocks = in_blocks } or nil
end

return smoothing
