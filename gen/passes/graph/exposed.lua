-- exposed.lua: makes tensors inside a model outputs too, for `calibrate` and `quality`.
-- All other results stay the same.
local ops = require("data.ops")
local words = require("common.words")

-- Returns the axes of a tensor of rows, as for Builder:grows; nil if it is not rows of f32. Rows of an encoder, and of
-- a memory, have one size; after a pool there is one row for each sequence. of_memory: the tensors of a memory's rows.
local function axes_of(self, tensor, is_pooled, of_memory)
  local rank = #tensor.shape
  if tensor.type ~= "f32" or tensor.unbatched or tensor.shape[1] ~= self.batch then return nil end
  if tensor.grows then return tensor.grows end
  if rank == 2 then return is_pooled and "b." or nil end
  if rank ~= 3 then return nil end
  local is_of_entry = not of_memory[tensor] and tensor.shape[2] == self.spec.seq
  return is_of_entry and "bs." or "b.."
end

-- True if a tensor has the rows of an encoder or a memory. op: makes it from only such rows; nil: an input.
local function is_of_memory(tensor, op, of_memory)
  if tensor.name:find("^encoder%.") then return true end
  if not op then return tensor.grows == "b.." or tensor.grows == ".b." end
  local reads_some = false
  for _, operand in pairs(op.operands) do
    if operand.kind ~= "weight" and operand.kind ~= "constant" then
      if not of_memory[operand] then return false end
      reads_some = true
    end
  end
  return reads_some
end

-- Returns a copy of an input, made before all other ops.
local function copied(self, tensor, name)
  self.section = self.entry.ops[1].section
  local y = self:op("copy", name, { x = tensor })
  table.insert(self.entry.ops, 1, table.remove(self.entry.ops))
  return y
end

-- Returns what is wanted of an entry: names, true or nil. A call may run `adapted` in place of `forward`, so both have
-- the same outputs.
local function wanted_of(state)
  if state.spec.role ~= "forward" then return nil end
  if not state.spec.is_adapted then return state.exposed end
  local of_primary = state.primary.graph.exposed
  return of_primary and words.map(of_primary, function(each) return each.name end)
end

--- Makes tensors of a builder's graph outputs: those that `exposed` of the pipeline's state names, or, if it is true,
--- all that f32 has too. Their members are exposed_0, exposed_1 and so on; self.graph.exposed lists { name, member }.
--- Returns whether there is something to expose.
return function(self, state)
  local wanted = wanted_of(state)
  if not wanted then return false end
  local list, named, is_pooled, of_memory = {}, {}, false, {}
  if wanted ~= true then for _, name in ipairs(wanted) do named[name] = true end end
  local function take(tensor, op)
    local axes = axes_of(self, tensor, is_pooled, of_memory)
    local has_own_order = tensor.is_ordered or tensor.groups -- an output's rows are in their own places
    -- A rank keeps its own part of keys, and their scales, so no meeting makes them whole.
    local of_rank = self.spec.ranks and (tensor.kept or op and op.op == "row_scale")
    local is_wanted = named[tensor.name] or wanted == true and tensor.kind == "scratch"
      and not (has_own_order or of_rank)
    if axes and is_wanted then list[#list + 1] = { tensor = tensor, axes = axes } end
  end
  for _, name in ipairs(self.entry.inputs) do
    local tensor = self.graph.tensors[name]
    of_memory[tensor] = is_of_memory(tensor, nil, of_memory)
    take(tensor)
  end
  for _, op in ipairs(self.entry.ops) do
    of_memory[op.result] = is_of_memory(op.result, op, of_memory)
    is_pooled = is_pooled or ops.class(op).pools
    local gain = op.operands.gain
    -- Factors change the numbers from those in f32. Keys joined with others have another place in a shorter call.
    local are_extended = op.op == "join" and op.result.shape[2] ~= self.spec.seq
    if not (gain and gain.factors) and not are_extended then take(op.result, op) end
  end
  self.graph.exposed = {}
  for i, each in ipairs(list) do
    local tensor, member = each.tensor, ("exposed_%d"):format(i - 1)
    local name = tensor.name
    if tensor.kind == "output" then
      member = tensor.member
    else
      if tensor.kind == "input" then tensor = copied(self, tensor, member) end
      tensor.kind, tensor.member, tensor.is_exposed = "output", member, true
      self:grows(tensor, each.axes)
      table.insert(self.entry.outputs, tensor.name)
    end
    self.graph.exposed[i] = { name = name, member = member }
  end
  return true
end
