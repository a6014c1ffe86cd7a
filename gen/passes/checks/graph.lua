-- graph.lua: checks a graph.
local expect = require("passes.checks.expect")
local ops = require("data.ops")
local words = require("common.words")

local function same_shape(a, b)
  if #a ~= #b then return false end
  for i = 1, #a do if a[i] ~= b[i] then return false end end
  return true
end

-- Checks that an operand with a row for each row of the result has them all. The shapes of an attention check theirs.
local function check_rows(op)
  local class = ops.class(op)
  for _, name in ipairs(class.region == "rows" and class.by_row or {}) do
    local tensor, result = op.operands[name], op.result
    if tensor and tensor.kind ~= "weight" and tensor.kind ~= "constant" then
      local is_of_rows = #tensor.shape == #result.shape
      for axis = 1, is_of_rows and #result.shape - 1 or 0 do
        is_of_rows = is_of_rows and tensor.shape[axis] == result.shape[axis]
      end
      expect(is_of_rows, "graph", "%s has the rows %s, its operand %s", result.name, words.shape(result.shape),
        words.shape(tensor.shape))
    end
  end
end

--- Checks that shapes agree with the op table, and rows with the operands' rows, that each tensor is written once and
--- before it is read, and that names are unique.
return function(state)
  local g = state.graph
  local entry = g.entry
  local written = words.set(entry.inputs)
  for _, name in ipairs(g.weights) do written[name] = true end
  for _, name in ipairs(g.order) do written[name] = written[name] or g.tensors[name].kind == "state" end
  for _, op in ipairs(entry.ops) do
    local list = {}
    for i, operand in ipairs(ops.table[op.op].operands) do
      local tensor = op.operands[operand]
      list[i] = tensor or false
      expect(not tensor or written[tensor.name], "graph", "%s reads %s before it is written", op.result.name,
        tensor and tensor.name)
    end
    expect(not written[op.result.name], "graph", "%s is written twice", op.result.name)
    expect(same_shape(op.result.shape, ops.table[op.op].shape(op.attributes, table.unpack(list))), "graph",
      "the shape of %s", op.result.name)
    check_rows(op)
    if ops.class(op).product then
      local x, weight = op.operands.x, op.operands.weight
      expect(ops.inputs(op) == weight.shape[2], "graph", "%s: x is %s, the weight %s", op.result.name,
        words.shape(x.shape), words.shape(weight.shape))
    end
    written[op.result.name] = true
  end
  for _, name in ipairs(entry.outputs) do expect(written[name], "graph", "output %s is never written", name) end
end
