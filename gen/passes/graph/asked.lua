-- asked.lua: leaves out rows of the last layers that no output asks for.
-- A pool may choose one row of each sequence: the first, the second or the last. An operation that works row by row
-- (by_row in data/ops.lua) gives the same result if the choice is made before it, and then computes only one row.
-- The choice moves up in two steps. After the last attention, tensors become [batch][width], as after any pool. If all
-- queries of that attention see the same keys, the choice moves on to its queries. The ops up to the contexts are
-- called early. Their tensors become [batch][1][width], as each sequence still has its own keys.
local ops = require("data.ops")
local words = require("common.words")

local asked = {}

-- The pools that choose one row.
local chooses = words.set { "first", "second", "last" }

-- The ops with results of f32 that are repeated for chosen rows.
local is_repeated = words.set { "row_scale", "round" }

-- Returns the choice of a pool as text, equal for pools that choose the same rows. Returns nil for other pools, and for
-- a pool with a mask, which may keep no row.
local function choice_of(op)
  local a, o = op.attributes, op.operands
  if op.op ~= "pool" or not chooses[a["function"]] or o.mask then return nil end
  return a["function"] .. (a["function"] == "last" and o.lengths and " of " .. o.lengths.name or "")
    .. (a.pad and " but " .. a.pad or "") .. (a.ending and " at " .. a.ending or "")
end

local function is_fixed(tensor) return tensor.kind == "weight" or tensor.kind == "constant" end

-- The row of a sequence that a choice takes, if it is the same for all sequences.
local ROW_OF = { first = 0, second = 1 }

-- True if row i of an op's result needs only row i of the operands in by_row, the row of tables of positions that a
-- choice takes, and numbers that all rows share.
local function is_by_row(op, choice)
  local class = ops.class(op)
  if class.by_position and not ROW_OF[choice] then return false end
  for _, name in ipairs(class.by_row or {}) do
    local tensor = op.operands[name]
    if tensor and is_fixed(tensor) and #tensor.shape > 1 then return false end -- a table of positions
  end
  return class.by_row ~= nil and (not class.alike or class.alike(op.attributes))
end

-- Returns two tables by tensor: the op that makes it, and a list of the ops that read it.
local function look_at(entry)
  local made, readers = {}, {}
  for _, op in ipairs(entry.ops) do
    made[op.result] = op
    for _, tensor in pairs(op.operands) do words.add(readers, tensor, op) end
  end
  return made, readers
end

-- True for an op inside an attention: one that reads the scores or weights of another op.
local function of_attention(op)
  local role = ops.class(op).role
  return op.op == "weight_scale" or role ~= nil and role ~= "makes_scores" and #op.result.shape == 4
    or role == "reads_weights"
end

-- True if an op is in the set and reads a tensor only in its by_row operands. Keys, say, are not read row by row.
local function reads_by_row(set, op, tensor)
  if not set[op] then return false end
  local names = words.set(ops.class(op).by_row)
  for name, operand in pairs(op.operands) do
    if operand == tensor and not names[name] then return false end
  end
  return true
end

-- Removes the ops inside an attention whose scores stay whole: an attention has one query or all of them.
local function leave_parts(entry, set, made)
  for _, op in ipairs(entry.ops) do
    local class = ops.class(op)
    for _, name in ipairs(set[op] and of_attention(op) and class.by_row or {}) do
      if not set[made[op.operands[name]]] then set[op] = nil end
    end
  end
end

-- Returns the set of ops that only compute the chosen rows: they work row by row, and their results are read by pools
-- of this choice and by other ops of the set, by nothing else. A tensor can be one output only, so it keeps its rows if
-- two pools of it are outputs.
local function ops_of_choice(entry, made, readers, choice)
  local set = {}
  for i = #entry.ops, 1, -1 do
    local op, outputs = entry.ops[i], 0
    local is_asked = op.result.kind == "scratch" and readers[op.result] and is_by_row(op, choice)
    for _, reader in ipairs(is_asked and readers[op.result] or {}) do
      is_asked = is_asked and (reads_by_row(set, reader, op.result) or choice_of(reader) == choice)
      if reader.op == "pool" and reader.result.kind == "output" then outputs = outputs + 1 end
    end
    set[op] = is_asked and outputs < 2 or nil
  end
  leave_parts(entry, set, made)
  return set
end

-- Returns the early ops of a set: those that make contexts, and those before them.
local function early_ops(entry, set, made)
  local early = {}
  for i = #entry.ops, 1, -1 do
    local op = entry.ops[i]
    if set[op] and (early[op] or ops.class(op).role == "reads_weights") then
      early[op] = true
      for _, name in ipairs(ops.class(op).by_row) do
        local maker = made[op.operands[name]]
        if maker and set[maker] then early[maker] = true end
      end
    end
  end
  return early
end

-- Returns the chosen rows of a tensor that keeps its rows, or that an early op makes: [batch][1][width] for an early
-- reader, else [batch][width]. Each is made once. A pool takes rows of f32. The op that rounds a tensor is repeated for
-- its chosen rows, also where rounded numbers are stored as f32: the ops of all targets of a list are the same.
local function chosen(self, of, tensor, is_early)
  local known = is_early and of.queries or of.chosen
  if known[tensor] then return known[tensor] end
  local has_one = not self.spec.symbols.rows.is_open and tensor.shape[2] == 1
  if is_early and has_one then return tensor end -- it has only this row
  local maker, a, o = of.made[tensor], of.pool.attributes, of.pool.operands
  local first = a["function"]
  local is_single = of.early[maker] -- the chosen row is the only one, and so the first
  local is_last = first == "last" and not is_single
  local path = ("%s.%s%s"):format(tensor.name, first, is_early and "_query" or "")
  local y
  if tensor.type == "f32" and not (maker and is_repeated[maker.op]) then
    y = self:op("pool", path, { x = tensor, lengths = is_last and o.lengths or nil, ids = is_last and o.ids or nil },
      { ["function"] = is_single and "first" or first, row = is_early or nil,
        pad = is_last and a.pad or nil, ending = is_last and a.ending or nil })
  else
    local operands = {}
    for _, name in ipairs(ops.table[maker.op].operands) do
      local operand = maker.operands[name]
      operands[name] = operand and (is_fixed(operand) and operand or chosen(self, of, operand, is_early)) or nil
    end
    y = self:op(maker.op, path, operands, maker.attributes)
    y.type = tensor.type
  end
  known[tensor] = y
  table.insert(is_early and of.of_queries or of.of_rows, self.entry.ops[#self.entry.ops])
  return y
end

-- Gives an op of the set the chosen rows of its operands, and computes its shape and flops again.
local function shrink(self, of, op)
  local list, is_early = {}, of.early[op] or false
  self.section = op.section
  for _, name in ipairs(ops.class(op).by_row) do
    local tensor = op.operands[name]
    local maker = tensor and of.made[tensor]
    local is_there = of.set[maker] and (of.early[maker] or false) == is_early
    if tensor and not is_fixed(tensor) and not is_there then op.operands[name] = chosen(self, of, tensor, is_early) end
  end
  if ops.class(op).by_position then op.attributes.row = ROW_OF[of.pool.attributes["function"]] end
  for i, name in ipairs(ops.table[op.op].operands) do list[i] = op.operands[name] or false end
  local declared = ops.table[op.op]
  local flops = declared.flops and declared.flops(op.attributes, table.unpack(list)) or 0
  self.entry.flops = self.entry.flops + flops - op.flops
  op.flops, op.shape = flops, declared.shape(op.attributes, table.unpack(list))
  op.result.shape = op.shape
end

-- Puts a tensor of chosen rows in the place of a pool's result: for its readers, and as an output.
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

-- Ops that stay directly after the op that they read, as the end of its epilogue (grouping.epilogue).
local ends = words.set { "round", "row_scale", "quantise" }

-- Returns a list of ops in a new order: the ops up to the last one that the added ops read, then the added ops, pools
-- first, then the others. The ops of the set read added ones, so they are among the others wherever they were.
local function inserted(list, added, set)
  local is_added, is_read, last = words.set(added), {}, 0
  for _, op in ipairs(added) do
    for _, tensor in pairs(op.operands) do is_read[tensor] = true end
  end
  for i, op in ipairs(list) do if is_read[op.result] and not is_added[op] then last = i end end
  while list[last + 1] and ends[list[last + 1].op] and not set[list[last + 1]] do last = last + 1 end
  local result, late = {}, {}
  for i, op in ipairs(list) do
    if not is_added[op] then table.insert((i > last or set[op]) and late or result, op) end
  end
  for _, are_pools in ipairs { true, false } do
    for _, op in ipairs(added) do if (op.op == "pool") == are_pools then result[#result + 1] = op end end
  end
  return table.move(late, 1, #late, #result + 1, result)
end

-- Puts the added ops in their places, and leaves out the pools that are gone.
local function arrange(self, of)
  local late = {}
  for op in pairs(of.set) do late[op] = not of.early[op] or nil end
  local list = inserted(words.without(self.entry.ops, of.gone), of.of_queries, of.set)
  self.entry.ops = inserted(list, of.of_rows, late)
  self.graph.order = words.without(self.graph.order, of.gone)
end

-- Makes one choice as early as it can be made. `of` has what the functions above share: made and readers, by tensor;
-- set and early, sets of ops; pool, one of the choice; queries and chosen, the chosen rows for early and late readers;
-- of_queries and of_rows, the ops added for them; gone, the replaced pools and the names of their results.
local function apply(self, choice)
  local made, readers = look_at(self.entry)
  local set = ops_of_choice(self.entry, made, readers, choice)
  local of = { made = made, readers = readers, set = set, early = early_ops(self.entry, set, made),
    chosen = {}, queries = {}, of_queries = {}, of_rows = {}, gone = {} }
  local pools = words.filter(self.entry.ops, function(op)
    return choice_of(op) == choice and set[made[op.operands.x]]
  end)
  if #pools == 0 then return end
  of.pool = pools[1]
  local list = self.entry.ops
  for i = 1, #list do if set[list[i]] then shrink(self, of, list[i]) end end
  for _, pool in ipairs(pools) do
    local x = pool.operands.x
    self.section = made[x].section
    replace(self, of, pool, of.early[made[x]] and chosen(self, of, x, false) or x)
  end
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
