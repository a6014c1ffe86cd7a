-- orders.lua: leaves out gathers of columns whose order the products before them can have.
-- A checkpoint may group the inputs of a linear layer in an order of its own (act-order of GPTQ). A gather then brings
-- the layer's inputs into that order. If only products make these, through elementwise operations, their outputs can
-- come in the order at once: their weights' rows and their biases are packed in it, and no gather is left. That is
-- so for the feed-forward's last layer. It is not for the attention's output, whose groups have inputs of many heads.
local grouping = require("passes.common.grouping")
local words = require("common.words")

local orders = {}

local elementwise = words.set { "activate", "clamp", "multiply", "add" }

-- Adds the products that make x, which nothing else reads, to a list; false if something else makes it.
local function add_makers(self, x, list)
  local op = self.made[x.name]
  if not op or x.kind ~= "scratch" or self.uses[x.name] ~= 1 then return false end
  if op.op == "linear" then
    list[#list + 1] = op
    return true
  end
  if not elementwise[op.op] then return false end
  for _, operand in pairs(op.operands) do
    if not add_makers(self, operand, list) then return false end
  end
  return true
end

-- Returns the products that make the inputs of all gathers with one order, or nil if something else makes some.
local function makers_of(self, gathers)
  local list, is_maker = {}, {}
  for _, gather in ipairs(gathers) do
    if not add_makers(self, gather.operands.x, list) then return nil end
  end
  for _, op in ipairs(list) do is_maker[op] = true end
  for _, op in ipairs(list) do -- layers may share a weight
    for _, name in ipairs { "weight", "bias" } do
      local tensor = op.operands[name]
      if tensor and tensor.row_order then return nil end
      for _, reader in ipairs(tensor and self.readers[tensor.name] or {}) do
        if not is_maker[reader] then return nil end
      end
    end
  end
  return list
end

-- Marks x, and what it is made of, as tensors whose columns have an order that no other build has.
local function mark(self, x)
  local op = self.made[x.name]
  x.is_ordered = true
  if op.op == "linear" then return end
  for _, operand in pairs(op.operands) do mark(self, operand) end
end

-- Puts x in the place of a gather's result, which vanishes.
local function leave_out(self, graph, gather)
  local result = gather.result
  mark(self, gather.operands.x)
  for _, reader in ipairs(self.readers[result.name]) do
    for name, tensor in pairs(reader.operands) do
      if tensor == result then reader.operands[name] = gather.operands.x end
    end
  end
  graph.tensors[result.name] = nil
  self.gone[gather], self.gone[result.name] = true, true
end

--- Leaves out the gathers of a graph that it can. A weight of a product before them then has row_order, the weight
--- whose order of inputs its rows have.
function orders.fold(graph, entry)
  local self = { uses = (grouping.readers(entry)), made = {}, readers = {}, gone = {} }
  local gathers, list = {}, {}
  for _, op in ipairs(entry.ops) do
    self.made[op.result.name] = op
    for _, tensor in pairs(op.operands) do words.add(self.readers, tensor.name, op) end
    local order = op.op == "gather_columns" and op.operands.order
    if order then
      if not gathers[order] then list[#list + 1] = order end
      words.add(gathers, order, op)
    end
  end
  for _, order in ipairs(list) do
    local makers = makers_of(self, gathers[order])
    for _, op in ipairs(makers or {}) do
      op.operands.weight.row_order = order.order_of
      if op.operands.bias then op.operands.bias.row_order = order.order_of end
    end
    for _, gather in ipairs(makers and gathers[order] or {}) do leave_out(self, graph, gather) end
    if makers then
      graph.tensors[order.name] = nil
      self.gone[order.name] = true
    end
  end
  if next(self.gone) == nil then return end
  entry.ops = words.without(entry.ops, self.gone)
  graph.order, graph.weights = words.without(graph.order, self.gone), words.without(graph.weights, self.gone)
end

return orders
