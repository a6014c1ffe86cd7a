-- growth.lua: finds how the tensors of a model of any length depend on the length of a sequence.
-- The graph is that of the longest sequence. It is compared with the graph of the shortest: an axis grows by 0, 1 or 2
-- with each row of a sequence. A shorter sequence has the first rows of an axis that grows by 1, and the middle of one
-- that grows by 2: distances. An axis that grows with the source of a sequence has 4 in place of 1.
local words = require("common.words")

local growth = {}

-- Constants whose last number is the first distance of their table.
local from_first = { alibi = true, alibi_of = true, t5_buckets = true }

local function with_length(spec, length) return words.merged(spec, { seq = length, key_seq = length }) end

--- Returns a copy of a spec whose sequences have sources of `length` rows.
function growth.with_source(spec, length) return words.merged(spec, { source = { least = length, seq = length } }) end

--- Returns a copy of a spec whose sequences have `length` rows.
function growth.shortened(spec, length)
  local copy = with_length(spec, length)
  copy.each = spec.each and {}
  for i, each in ipairs(spec.each or {}) do copy.each[i] = with_length(each, length) end
  return copy
end

-- Returns a formula with the first distance that it has for `rows` rows more.
local function lengthened(formula, rows)
  if not from_first[formula:match("^%S+")] then return formula end
  local head, first = formula:match("^(.*) (%-?%d+)$")
  return ("%s %d"):format(head, tonumber(first) - rows)
end

-- Adds to the growth of a tensor's axes how they differ from another's, times `unit`.
local function add_growth(tensor, other, rows, unit)
  assert(#tensor.shape == #other.shape and tensor.type == other.type, tensor.name)
  tensor.growth = tensor.growth or {}
  for axis, size in ipairs(tensor.shape) do
    local more = size - other.shape[axis]
    assert(more == 0 or more == rows or more == 2 * rows, tensor.name)
    tensor.growth[axis] = (tensor.growth[axis] or 0) + more // rows * unit
  end
end

-- Checks that nothing else of an op depends on the length.
local function check_op(op, other)
  assert(op.op == other.op, op.result.name)
  for _, pair in ipairs { { op.attributes, other.attributes }, { other.attributes, op.attributes } } do
    for key, value in pairs(pair[1]) do assert(pair[2][key] == value, op.result.name .. ": " .. key) end
  end
end

--- An axis has one of these in `growth` if it has a row for each row of a sequence, or of its source.
growth.OF_TOKENS, growth.OF_SOURCE = 1, 4

--- Sets `growth` of each tensor of a graph, a number an axis. shorter: the graph of sequences of `rows` rows less;
--- unit: OF_TOKENS, or OF_SOURCE if these are their sources'. Tensors whose values do not depend on the length in this
--- way raise an error; descriptions that have some are refused before (validate/any_length.lua).
function growth.set(graph, shorter, rows, unit)
  assert(#graph.order == #shorter.order and #graph.entry.ops == #shorter.entry.ops)
  for i, name in ipairs(graph.order) do
    local tensor, other = graph.tensors[name], shorter.tensors[shorter.order[i]]
    add_growth(tensor, other, rows, unit)
    local is_longer = words.shape(tensor.shape) ~= words.shape(other.shape) -- other tables are the same for any length
    local more = unit == growth.OF_TOKENS and is_longer and rows or 0
    if tensor.formula then assert(tensor.formula == lengthened(other.formula, more), name) end
  end
  for i, op in ipairs(graph.entry.ops) do check_op(op, shorter.entry.ops[i]) end
end

return growth
