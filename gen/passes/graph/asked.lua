-- asked.lua: leaves out rows of the last layers that no output asks for.
-- A pool may take one row of each sequence: the first, the second or the last. Operations on single rows commute with
-- this choice of rows (by_row in data/ops.lua). So the choice is made before them, and they compute the row that is
-- chosen alone: a classifier of the first token has one row for each sequence after its last attention.
local ops = require("data.ops")
local words = require("common.words")

local asked = {}

-- Pools that take one row, whatever is in it.
local chooses = words.set { "first", "second", "last" }

-- Returns what a pool chooses, as text; nil if it does not take one row. A mask may keep none.
local function choice_of(op)
  local a, o = op.attributes, op.operands
  if op.op ~= "pool" or not chooses[a["function"]] or o.mask then return nil end
  return a["function"] .. (a["function"] == "last" and o.lengths and " of " .. o.lengths.name or "")
end

local function is_fixed(tensor) return tensor.kind == "weight" or tensor.kind == "constant" end

-- True if a row of an op's result is made of the same row of each operand, and of numbers that all rows share.
local function is_by_row(op)
  local names = words.set(ops.class(op).by_row or {})
  for name, tensor in pairs(op.operands) do
    if names[name] and is_fixed(tensor) and #tensor.shape > 1 then return false end -- a table of positions
    if not names[name] and not is_fixed(tensor) then return false end
  end
  return next(names) ~= nil
end

-- Returns the op that makes each tensor, the ops that read it, and the place of each op in the list.
local function look_at(entry)
  local made, readers, place = {}, {}, {}
  for i, op in ipairs(entry.ops) do
    made[op.result], place[op] = op, i
    for _, tensor in pairs(op.operands) do
      readers[tensor] = readers[tensor] or {}
      table.insert(readers[tensor], op)
    end
  end
  return made, readers, place
end

-- Returns a set of the ops that need one row of each sequence alone: those by row whose results only a choice reads, or
-- other ops of this set. A result of which there are two pools as outputs keeps its rows.
local function ops_of_choice(entry, readers, choice)
  local set = {}
  for i = #entry.ops, 1, -1 do
    local op, outputs = entry.ops[i], 0
    local is_asked = op.result.kind == "scratch" and readers[op.result] and is_by_row(op)
    for _, reader in ipairs(is_asked and readers[op.result] or {}) do
      is_asked = is_asked and (set[reader] or choice_of(reader) == choice)
      if reader.op == "pool" and reader.result.kind == "output" then outputs = outputs + 1 end
    end
    set[op] = is_asked and outputs < 2 or nil
  end
  return set
end

-- Returns the chosen rows of a tensor that has other readers. Rows of other types than f32 are rounded again.
local function chosen(self, of, tensor)
  local known = of.chosen[tensor]
  if known then return known end
  local pool, path = of.pool, tensor.name .. "." .. of.pool.attributes["function"]
  local maker = of.made[tensor]
  if tensor.type == "f32" and not (maker and maker.op == "row_scale") then
    local lengths = pool.attributes["function"] == "last" and pool.operands.lengths or nil
    of.chosen[tensor] = self:op("pool", path, { x = tensor, lengths = lengths }, pool.attributes)
    of.last = math.max(of.last, of.place[maker] or 0)
  else
    local operands = {}
    for _, name in ipairs(ops.table[maker.op].operands) do
      local operand = maker.operands[name]
      operands[name] = operand and (is_fixed(operand) and operand or chosen(self, of, operand)) or nil
    end
    of.chosen[tensor] = self:op(maker.op, path, operands, maker.attributes)
    of.chosen[tensor].type = tensor.type
  end
  of.added[self.entry.ops[#self.entry.ops]] = true
  return of.chosen[tensor]
end

-- Gives an op the chosen rows of its operands, and its result their shape.
local function shrink(self, of, op)
  local list = {}
  for _, name in ipairs(ops.class(op).by_row) do
    local tensor = op.operands[name]
    if tensor and not is_fixed(tensor) and not of.set[of.made[tensor]] then
      op.operands[name] = chosen(self, of, tensor)
    end
  end
  for i, name in ipairs(ops.table[op.op].operands) do list[i] = op.operands[name] or false end
  local declared = ops.table[op.op]
  local flops = declared.flops and declared.flops(op.attributes, table.unpack(list)) or 0
  self.entry.flops = self.entry.flops + flops - op.flops
  op.flops, op.shape = flops, declared.shape(op.attributes, table.unpack(list))
  op.result.shape = op.shape
end

-- Puts the result of an op in the place of a pool of it.
local function replace(self, of, pool, result)
  local old = pool.result
  for _, reader in ipairs(of.readers[old] or {}) do
    for name, tensor in pairs(reader.operands) do
      if tensor == old then reader.operands[name] = result end
    end
  end
  if old.kind == "output" then
    for _, field in ipairs { "kind", "member", "grows", "squeezed" } do result[field] = old[field] end
    for i, name in ipairs(self.entry.outputs) do
      if name == old.name then self.entry.outputs[i] = result.name end
    end
  end
  self.graph.tensors[old.name] = nil
  of.gone[pool], of.gone[old.name] = true, true
end

-- Puts the added ops, pools first, after the last op that they read, and the ops of the choice after them.
local function arrange(self, of)
  local before, pools, again, after = {}, {}, {}, {}
  for i, op in ipairs(self.entry.ops) do
    local is_early = i <= of.last and not of.set[op]
    if of.added[op] then
      table.insert(op.op == "pool" and pools or again, op)
    elseif not of.gone[op] then
      table.insert(is_early and before or after, op)
    end
  end
  for _, part in ipairs { pools, again, after } do table.move(part, 1, #part, #before + 1, before) end
  self.entry.ops = before
  local order = {}
  for _, name in ipairs(self.graph.order) do if not of.gone[name] then order[#order + 1] = name end end
  self.graph.order = order
end

-- Lets the ops of a choice take the rows alone that it chooses.
local function apply(self, choice)
  local made, readers, place = look_at(self.entry)
  local of = { made = made, readers = readers, place = place, chosen = {}, added = {}, gone = {}, last = 0,
    set = ops_of_choice(self.entry, readers, choice) }
  local pools = {}
  for _, op in ipairs(self.entry.ops) do
    if choice_of(op) == choice and of.set[made[op.operands.x]] then pools[#pools + 1] = op end
  end
  if #pools == 0 then return end
  of.pool = pools[1]
  local list = self.entry.ops
  self.section = made[of.pool.operands.x].section
  for i = 1, #list do
    if of.set[list[i]] then shrink(self, of, list[i]) end
  end
  for _, pool in ipairs(pools) do replace(self, of, pool, pool.operands.x) end
  arrange(self, of)
end

--- Makes the choices of rows of a builder's graph as early as they can be made.
function asked.apply(self)
  local known, list = {}, {}
  for _, op in ipairs(self.entry.ops) do
    local choice = choice_of(op)
    if choice and not known[choice] then known[choice], list[#list + 1] = true, choice end
  end
  for _, choice in ipairs(list) do apply(self, choice) end
end

return asked
