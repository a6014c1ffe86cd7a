-- repeated.lua: leaves out alike layers that show a checker nothing new.
-- Layers are alike if each has the same steps, with the same places in buffers of the same sizes, and reads the same of
-- the layer before; and if these buffers have the same offsets, or no other buffer's bytes. A layer ends the values at
-- the places that it writes and leaves its own there, so what the second of two alike layers leaves in memory is what
-- each later one leaves: the third layer finds what the second found. This holds for groups of layers too, such as five
-- local layers and a global one. So of equal groups the first two are walked. For a buffer of a layer that is left out
-- stands the one that has its place in the second group.
local alike = require("common.alike")
local loops = require("data.loops")
local operands = require("data.operands")
local packed = require("passes.common.packed")
local tasks = require("passes.common.tasks")
local words = require("common.words")

local repeated = {}

local LONGEST = 16 -- most layers of a group

-- Returns a value as text, tables with all that is in them.
local function whole_text(value)
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for i, name in ipairs(words.sorted_keys(value)) do parts[i] = ("%s=%s"):format(name, whole_text(value[name])) end
  return "{" .. table.concat(parts, " ") .. "}"
end

-- Returns the layers of a segment: { lists, text, first, last: of its sections or phases }.
local function layers_of(segment)
  local layers, phases = {}, segment.phases or {}
  for i, section in ipairs(not segment.phases and segment.sections or {}) do
    layers[i] = { lists = { section.steps }, text = "", first = i, last = i }
  end
  for i, phase in ipairs(phases) do
    local before, layer = phases[i - 1], layers[#layers]
    if not before or phase.section ~= before.section and phase.stretch ~= before.stretch then
      layer = { lists = {}, text = "", first = i }
      layers[#layers + 1] = layer
    end
    layer.last = i
    layer.text = ("%s phase %d %s %s %s"):format(layer.text, #phase.chunks, before and before.stretch == phase.stretch,
      phase.loop and loops.text(phase.loop), phase.claimed and loops.text(phase.claimed))
    for _, list in ipairs(phase.claimed and { phase.steps } or phase.chunks) do table.insert(layer.lists, list) end
  end
  return layers
end

local Reader = {}
Reader.__index = Reader

function Reader:part(value)
  self.count = self.count + 1
  self.parts[self.count] = value or false
end

-- Returns what a layer calls a buffer: its number in the buffers of its class that the layer is the first to use; that
-- number of the layer before; or its name. The first use comes with what is true of the buffer.
function Reader:buffer(name, class, step)
  local of, layer = self.of_buffer[name], self.layer
  if of then
    if of.layer == layer then return "own " .. of.number end
    if class == "weight" then return name end
    of.last = layer.number
    return of.layer.number == layer.number - 1 and "before " .. of.number or name
  end
  layer.buffers[#layer.buffers + 1] = name
  layer.count[class] = (layer.count[class] or 0) + 1
  self.of_buffer[name] = { layer = layer, number = layer.count[class], last = layer.number }
  local program, buffer, tensor = self.program, self.program.buffers[name], self.state.graph.tensors[name]
  local shape = tensor and class ~= "arena" and ("%s %s %s %s"):format(table.concat(tensor.shape, "x"), tensor.type,
    tensor.grows, tensor.unbatched)
  local layout = class == "weight" and packed.bytes(tensor, self.state.weights.layouts[name])
  local place = self.is_beside[name] and program.offsets[name] or "apart"
  local storage = buffer and ("%s %s %s %s"):format(buffer.bytes, buffer.pitch, buffer.private,
    buffer.over and self:buffer(buffer.over, class, step))
  return ("new %s %s %s %s %s"):format(shape, layout, storage, place, program.own and program.own[name])
end

-- Adds what distinguishes an operand: its buffer, and where in it.
function Reader:operand(operand, step)
  self:part(operand.terms and next(operand.terms) and operand.terms)
  if not operand.buffer then
    for _, name in ipairs { "symbol", "value", "plus", "least", "most" } do self:part(operand[name]) end
    return
  end
  self:part(operand.class)
  self:part(self:buffer(operand.buffer, operand.class, step))
  self:part(operand.offset)
  self:part(self.in_phases and operand.class == "arena"
    and tasks.is_own(self.program.buffers[operand.buffer], step, self.program.threads))
end

-- Adds what distinguishes a step.
function Reader:step(step)
  local node = operands.alike(self.tree, step)
  if not node then return self:part(loops.text(step)) end
  node.text = node.text or ("%s %s %s %s %s"):format(step.form, step.fn, step.outputs,
    whole_text(step.kernel or step.constants), whole_text(step.elementwise))
  local program = self.program
  local pair = program.fused_kernels and program.fused_kernels[step]
  self:part(node.text)
  self:part(step.panels and step.panels.count)
  self:part(pair and (pair.is_local and "local" or "fused"))
  self:part(program.fused_maps and program.fused_maps[step])
  operands.each(step, function(operand) self:operand(operand, step) end)
  operands.each_open(step, function(name) self:part(step.sizes[name]) end)
end

-- Sets the keys of a segment's layers: layers with one key are alike.
function Reader:read(segment, layers)
  self.in_phases = segment.mode == "phases"
  for _, layer in ipairs(layers) do
    self.layer, self.number = layer, self.number + 1
    layer.number, layer.buffers, layer.count = self.number, {}, {}
    self.parts, self.count = { layer.text }, 1
    for _, list in ipairs(layer.lists) do
      self:part("list")
      for _, step in ipairs(list) do
        if step.form ~= "note" then self:step(step) end
      end
    end
    layer.key = self.first_of(self.parts)
  end
end

-- Returns how many layers from number `from` on repeat those `group` before, and how long such a group is.
local function run_from(layers, from)
  for group = 1, LONGEST do
    local stop = from + group
    while layers[stop] and layers[stop].key == layers[stop - group].key do stop = stop + 1 end
    local count = (stop - from - 2 * group) // group * group
    if count > 0 then return count, group end
  end
  return 0
end

-- Marks layers [first, last] as left out, unless a layer further on than the next one uses their buffers. Any layer may
-- use the buffers of the last one. `group`: a layer's distance to the one that stands for it.
local function leave_out(self, layers, first, last, group)
  for i = first, last - 1 do
    for _, name in ipairs(layers[i].buffers) do
      if self.of_buffer[name].last > layers[i].number + 1 then return end
    end
  end
  for i = first, last do
    layers[i].is_left_out = true
    local kept = layers[i - (i - first) // group * group - group]
    for n, name in ipairs(layers[i].buffers) do self.stands_for[name] = kept.buffers[n] end
  end
end

--- Returns a program without the alike layers that show nothing new, and a table: buffer of such a layer -> the one
--- that stands for it. state: of the program's entry. is_beside: of beside.any; nil: buffers have no places yet.
function repeated.left_out(state, program, is_beside)
  local self = setmetatable({ program = program, state = state, is_beside = is_beside or {}, tree = {}, number = 0,
    first_of = alike.first_list(), of_buffer = {}, stands_for = {} }, Reader)
  local by_segment = {}
  for i, segment in ipairs(program.segments) do
    by_segment[i] = layers_of(segment)
    self:read(segment, by_segment[i])
  end
  local segments = words.map(program.segments, function(segment, i)
    local layers, at = by_segment[i], 1
    while at <= #layers do
      local count, group = run_from(layers, at)
      if count > 0 then leave_out(self, layers, at + 2 * group, at + 2 * group + count - 1, group) end
      at = at + (count > 0 and 2 * group + count or 1)
    end
    local field, kept = segment.phases and "phases" or "sections", {}
    for _, layer in ipairs(layers) do
      if not layer.is_left_out then table.move(segment[field], layer.first, layer.last, #kept + 1, kept) end
    end
    return setmetatable({ [field] = kept }, { __index = segment })
  end)
  return setmetatable({ segments = segments }, { __index = program }), self.stands_for
end

return repeated
