-- ops.lua: the graph's operations, declared once: operands, attributes, shape rule, flop
-- rule, equation. The graph pass, the descriptor, the reference, dumps and docs read it.
--
-- Shapes: B sequences, S queries, T keys, H heads, D head_dim; N any rows.
local ops = {}

local function rows_of(shape)
  local n = 1
  for i = 1, #shape - 1 do n = n * shape[i] end
  return n
end

local function with_last(shape, last)
  local result = table.move(shape, 1, #shape - 1, 1, {})
  result[#shape] = last
  return result
end

--- How many (query, key) pairs a static mask leaves of queries x keys.
function ops.visible_pairs(attributes, queries, keys)
  local pairs_left = 0
  for i = 0, queries - 1 do
    local first = attributes.left >= 0 and math.max(0, i - attributes.left) or 0
    local last = attributes.right >= 0 and math.min(keys - 1, i + attributes.right) or keys - 1
    if attributes.causal then last = math.min(last, i) end
    pairs_left = pairs_left + math.max(0, last - first + 1)
  end
  return pairs_left
end

-- A product's share of scores and context: the pairs that the static mask leaves.
local function attention_flops(attributes, batch, queries, keys, width)
  return 2 * batch * width * ops.visible_pairs(attributes, queries, keys)
end

local mask_attributes = { "heads", "causal", "left", "right" }

ops.table = {
  linear = {
    operands = { "x", "weight", "bias" }, optional = { bias = true }, attributes = {},
    shape = function(_, x, weight) return with_last(x.shape, weight.shape[1]) end,
    flops = function(_, x, weight) return 2 * rows_of(x.shape) * weight.shape[1] * weight.shape[2] end,
    equation = "x · Wᵀ + b",
  },
  embed = {
    operands = { "ids", "table" }, attributes = {},
    shape = function(_, ids, tbl) return { ids.shape[1], ids.shape[2], tbl.shape[2] } end,
    equation = "table[ids]",
  },
  add = {
    operands = { "a", "b" }, attributes = {},
    shape = function(_, a) return a.shape end,
    equation = "a + b, b repeated over the leading dimensions it lacks",
  },
  copy = {
    operands = { "x" }, attributes = {},
    shape = function(_, x) return x.shape end,
    equation = "x",
  },
  activate = {
    operands = { "x" }, attributes = { "function" },
    shape = function(_, x) return x.shape end,
    equation = "function(x)",
  },
  layer_norm = {
    operands = { "x", "gain", "bias" }, optional = { gain = true, bias = true }, attributes = { "eps" },
    shape = function(_, x) return x.shape end,
    equation = "(x - mean) / sqrt(variance + eps) * gain + bias, over the last dimension",
  },
  scores = {
    operands = { "q", "k", "lengths" }, optional = { lengths = true }, attributes = mask_attributes,
    shape = function(a, q, k) return { q.shape[1], a.heads, q.shape[2], k.shape[2] } end,
    flops = function(a, q, k) return attention_flops(a, q.shape[1], q.shape[2], k.shape[2], q.shape[3]) end,
    equation = "q · kᵀ a head, -inf where masked",
  },
  softmax = {
    operands = { "scores" }, attributes = { "scale" },
    shape = function(_, scores) return scores.shape end,
    equation = "exp(scale (s - max)) / sum, a row; a row of -inf only gives 0",
  },
  context = {
    operands = { "weights", "v", "lengths" }, optional = { lengths = true }, attributes = mask_attributes,
    shape = function(_, weights, v) return { weights.shape[1], weights.shape[3], v.shape[3] } end,
    flops = function(a, weights, v)
      return attention_flops(a, weights.shape[1], weights.shape[3], weights.shape[4], v.shape[3])
    end,
    equation = "weights · v a head, over the keys that are not masked",
  },
  pool = {
    operands = { "x", "lengths" }, optional = { lengths = true }, attributes = { "function" },
    shape = function(_, x) return { x.shape[1], x.shape[3] } end,
    equation = "mean, max, first or last of a sequence's rows, of the first lengths of them",
  },
  argmax = {
    operands = { "x" }, attributes = {}, type = "i32",
    shape = function(_, x)
      local shape = table.move(x.shape, 1, #x.shape - 1, 1, {})
      return shape
    end,
    equation = "the index of the largest, the first of equals",
  },
}

--- Makes an op. operands: name -> tensor. Errors (defects of the caller) on a wrong operand or attribute.
function ops.make(name, section, operands, attributes)
  local declared = assert(ops.table[name], name)
  local list = {}
  for i, operand in ipairs(declared.operands) do
    local tensor = operands[operand]
    assert(tensor or (declared.optional and declared.optional[operand]), name .. " lacks " .. operand)
    list[i] = tensor or false
  end
  for operand in pairs(operands) do
    local known = false
    for _, each in ipairs(declared.operands) do known = known or each == operand end
    assert(known, name .. " has no operand " .. operand)
  end
  for _, attribute in ipairs(declared.attributes) do
    assert(attributes[attribute] ~= nil, name .. " lacks attribute " .. attribute)
  end
  return {
    op = name, section = section, operands = operands, attributes = attributes,
    shape = declared.shape(attributes, table.unpack(list)), type = declared.type or "f32",
    flops = declared.flops and declared.flops(attributes, table.unpack(list)) or 0,
  }
end

return ops
