-- growth.lua: finds how the tensors of a model of any length depend on the length of a sequence.
-- The graph is that of the longest sequence. It is compared with the graph of the shortest: an axis grows by 0, 1 or 2
-- with each row of a sequence. A shorter sequence has the first rows of an axis that grows by 1, and the middle of one
-- that grows by 2: distances.
local growth = {}

-- Constants whose last number is the first distance of their table.
local from_first = { alibi = true, t5_buckets = true }

local function with_length(spec, length)
  local copy = {}
  for key, value in pairs(spec) do copy[key] = value end
  copy.seq, copy.key_seq = length, length
  return copy
end

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

local function axes_of(tensor, other, rows)
  local axes = {}
  for axis, size in ipairs(tensor.shape) do
    local more = size - (other.shape[axis] or 0)
    assert(more == 0 or more == rows or more == 2 * rows, tensor.name)
    axes[axis] = more // rows
  end
  assert(#tensor.shape == #other.shape and tensor.type == other.type, tensor.name)
  return axes
end

-- Checks that nothing else of an op depends on the length.
local function check_op(op, other)
  assert(op.op == other.op, op.result.name)
  for _, pair in ipairs { { op.attributes, other.attributes }, { other.attributes, op.attributes } } do
    for key, value in pairs(pair[1]) do assert(pair[2][key] == value, op.result.name .. ": " .. key) end
  end
end

--- Sets `growth` of each tensor of a graph, a number an axis. shorter: the graph of sequences of `rows` rows less.
--- Tensors whose values do not depend on the length in this way raise an error; descriptions that have some are
--- refused before (validate/any_length.lua).
function growth.set(graph, shorter, rows)
  assert(#graph.order == #shorter.order and #graph.entry.ops == #shorter.entry.ops)
  for i, name in ipairs(graph.order) do
    local tensor, other = graph.tensors[name], shorter.tensors[shorter.order[i]]
    tensor.growth = axes_of(tensor, other, rows)
    if tensor.formula then assert(tensor.formula == lengthened(other.formula, rows), name) end
  end
  for i, op in ipairs(graph.entry.ops) do check_op(op, shorter.entry.ops[i]) end
end

return growth
