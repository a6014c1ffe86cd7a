-- local_graph.lua: makes the graph of one rank: the same operations on its parts, and the meetings between them.
-- A tensor that a meeting makes whole has its own name there; the part of it that the rank has is called NAME.part.
-- Tensors that the whole model does not have (of_rank) are not in the trace.
-- A rank of a stage has only the operations of its stage. It begins with the tensors that it takes from the stage
-- before, passes tensors on when it has made them, and takes the outputs from the last stage.
-- Ranks of one kind have the same operations, so another rank's graph is the first's with weights of its own.
local cut = require("passes.ranks.cut")
local divisions = require("data.divisions")
local ops = require("data.ops")
local words = require("common.words")

local Maker = {}
Maker.__index = Maker

function Maker:add(tensor)
  assert(not self.graph.tensors[tensor.name], tensor.name)
  self.graph.tensors[tensor.name] = tensor
  self.graph.order[#self.graph.order + 1] = tensor.name
  return tensor
end

-- Returns the rank's number of elements of a division, and the first.
function Maker:range(first) return divisions.range(first, self.rank) end

-- Returns the rank's part of the state that another entry writes.
function Maker:kept(tensor)
  local own, of = words.merged(tensor), self.divided.made[tensor.name]
  own.shape = table.move(tensor.shape, 1, #tensor.shape, 1, {})
  if of then own.shape[of.axis] = self:range(of.first) end
  return own
end

-- Returns the rank's own of a tensor that no operation makes.
function Maker:given(tensor)
  local known = self.graph.tensors[tensor.name]
  if known then return known end
  local of, own = self.divided.cuts[tensor.name], tensor
  if of then
    local count, from = self:range(of.first)
    own = cut.tensor(tensor, of.axis, from, count)
  elseif self.divided.of_first[tensor.name] and self.rank > 0 then
    own = cut.zeros(tensor)
  end
  if tensor.kind == "state" then return self:add(self:kept(tensor)) end
  if own ~= tensor and tensor.scales_of then own.scales_of = self:given(tensor.scales_of) end
  self:add(own)
  if tensor.kind ~= "input" then table.insert(self.graph.weights, tensor.name) end
  return own
end

-- Returns the rank's operand for a tensor. is_part: whether the operation takes it divided.
function Maker:operand(tensor, is_part)
  return is_part and self.parts[tensor.name] or self.whole[tensor.name] or self.parts[tensor.name] or
    self:given(tensor)
end

-- Adds an operation whose result is like a tensor of the whole graph.
function Maker:op(name, section, operands, attributes, like, path)
  local op = ops.make(name, section, operands, attributes)
  local result = {}
  for key, value in pairs(like) do result[key] = value end
  result.name, result.shape = path, op.shape
  if path ~= like.name then
    result.kind, result.member, result.grows, result.hides, result.squeezed = "scratch", nil, nil, nil, nil
  end
  result.groups = result.groups and self.whole[result.groups.name]
  op.result, op.type = self:add(result), result.type
  local entry = self.graph.entry
  entry.ops[#entry.ops + 1] = op
  entry.flops = entry.flops + op.flops
  return result
end

local function text_of(first) return table.concat(divisions.of_ranks(first), ", ") end

-- Adds the meeting that makes a tensor whole.
function Maker:meet(op, of, part)
  local result = op.result
  if of.sum then
    return self:op("sum_ranks", op.section, { x = part, ids = of.ids and self:operand(of.ids) },
      { first = of.first and text_of(of.first) }, result, result.name)
  end
  assert(of.axis == #result.shape and not result.groups, result.name)
  return self:op("gather_ranks", op.section, { x = part }, { first = text_of(of.first) }, result, result.name)
end

-- Adds the rank's own numbers of rows of a table that is divided.
function Maker:own_ids(op, of)
  local name = op.result.name .. ".own_ids"
  local count = self:range(of.first)
  local ids = of.ids
  return self:op("own_ids", op.section, { ids = self:operand(ids) }, { first = text_of(of.first) },
    { type = "i32", of_rank = true, growth = ids.growth, minimum = 0, limit = count }, name)
end

-- Adds the rank's own columns of what an operation makes on each rank.
function Maker:own_columns(op, of, all, name)
  all.of_rank = true
  local starts = {}
  for rank = 0, self.divided.ranks - 1 do starts[rank + 1] = select(2, divisions.range(of.first, rank)) end
  return self:op("own_columns", op.section, { x = all },
    { starts = table.concat(starts, ", "), columns = self:range(of.first) }, op.result, name)
end

-- Passes a tensor on to the next stage. The operation's result stands in its place.
function Maker:pass(name, section)
  local whole = self.whole[name]
  self:op("pass_on", section, { x = whole }, {}, whole, name .. ".passed").of_rank = true
end

-- Takes a tensor, the result of an operation of the whole graph, from another stage.
function Maker:take(name, op, section, pooled)
  local result = op.result
  self.whole[result.name] = self:op(name, section, {}, { shape = text_of(result.shape) }, result, result.name)
  self.graph.entry.ops[#self.graph.entry.ops].pooled = pooled
end

-- Passes a tensor on if the next stage takes it, and gives it to all stages if it is an output of the last.
function Maker:pass_result(op)
  local name, part = op.result.name, self.part
  if part.passes[name] then self:pass(name, op.section) end
  if part.gives[name] then
    self:op("give_output", op.section, { x = self.whole[name] }, {}, self.whole[name], name .. ".given").of_rank = true
  end
end

function Maker:add_op(op)
  local divided, result = self.divided, op.result
  local how, of = divided.how[op], divided.made[result.name]
  local operands, attributes = {}, {}
  for key, value in pairs(op.attributes) do attributes[key] = value end
  for key, first in pairs(how and how.counts or {}) do attributes[key] = self:range(first) end
  if attributes.kv_heads == attributes.heads then attributes.kv_heads = nil end
  for _, name in ipairs(ops.table[op.op].operands) do
    local tensor = op.operands[name]
    if tensor then operands[name] = self:operand(tensor, how and how.takes[name]) end
  end
  if of and of.ids then operands.ids = self:own_ids(op, of) end
  local is_met = divided.whole[result.name]
  local own = is_met and result.name .. ".part" or result.name
  local made = self:op(op.op, op.section, operands, attributes, result, how and how.makes_all and result.name .. ".all"
    or own)
  if how and how.makes_all then made = self:own_columns(op, of, made, own) end
  if of then self.parts[result.name] = made else self.whole[result.name] = made end
  if is_met then self.whole[result.name] = self:meet(op, of, made) end
  if self.part then self:pass_result(op) end
end

-- Adds the operations of a rank's stage.
function Maker:add_part(ops_of_whole)
  local part, section = self.part, nil
  for _, op in ipairs(ops_of_whole) do section = section or part.has[op] and op.section end
  for _, op in ipairs(part.takes) do
    self:take("take_on", op, section)
    if part.passes[op.result.name] then self:pass(op.result.name, section) end
  end
  for _, op in ipairs(ops_of_whole) do
    if part.has[op] then self:add_op(op) end
  end
  for _, each in ipairs(part.outputs) do self:take("take_output", each.op, each.op.section, each.pooled) end
end

local local_graph = {}

--- Returns the graph of a rank. divided: of ranks/divide.lua; rank: its number in its stage; part: that of its stage
--- (ranks/stages.lua), nil: the model has no stages
function local_graph.of(whole, divided, rank, part)
  local self = setmetatable({ divided = divided, rank = rank, part = part, parts = {}, whole = {},
    graph = { tensors = {}, order = {}, weights = {}, answer = whole.answer, smoothing = whole.smoothing } }, Maker)
  local entry = whole.entry
  self.graph.entry = { name = entry.name, ops = {}, inputs = entry.inputs, outputs = entry.outputs, flops = 0 }
  for _, name in ipairs(entry.inputs) do self:given(whole.tensors[name]) end
  if part then
    self:add_part(entry.ops)
  else
    for _, op in ipairs(entry.ops) do self:add_op(op) end
  end
  return self.graph
end

--- Returns the graph of a rank whose kind has the graph `first`.
function local_graph.like(first, whole, divided, rank)
  local self = setmetatable({ divided = divided, rank = rank,
    graph = { tensors = {}, order = {}, weights = {} } }, Maker)
  for _, name in ipairs(first.weights) do self:given(whole.tensors[name]) end
  return setmetatable({ tensors = setmetatable(self.graph.tensors, { __index = first.tensors }) }, { __index = first })
end

return local_graph
