-- flow.lua: checks that every value in the arena is read as it was last written, by walking the steps in order. The
-- walk keeps which bytes of each buffer hold a value, from the operands of each step. A write makes a value, and ends
-- the values of all buffers that overlap it. In a buffer `over` another only the same elements end.
--
-- A step inside a loop means all its iterations. Bytes that move with a loop's symbol are kept for the first
-- iteration, and count for all of them once the loop has ended. A loop is walked twice, so that an iteration sees the
-- values that the one before left. A value that ends in the second walk does not exist for all iterations (lost:
-- values of a loop; gone: values of a segment, which contains loops).
local expect = require("passes.checks.expect")
local footprint = require("data.footprint")
local instance = require("passes.checks.instance")
local operands = require("data.operands")
local panel_loops = require("passes.common.panel_loops")
local programs = require("passes.common.programs")
local rectangles = require("passes.checks.rectangles")
local types = require("data.types")

local NO_TERMS, NO_LOOP = {}, {}
local KEPT = { arena = true, out = true } -- classes of buffers that steps write

local Flow = {}
Flow.__index = Flow

-- Returns the records of buffers: { pitch, values (a set), inner (values that move with the open loop), each,
-- of_group: by how much; sequence: the stride of that symbol, root: the first of the buffers at the same offset on
-- purpose, under: the others of these, beside: buffers there because they never have values at the same time, alone:
-- whether none of these has a value at this step; reads: those that were checked since an element may have ended; past:
-- the values of an output that have ended in the arena, as the output may be in the caller's memory instead }. A buffer
-- that another one stands for has that one's.
local function records(program, beside, stands_for)
  local all, root = {}, {}
  local function root_of(name)
    local over = program.buffers[stands_for[name] or name].over
    return over and root_of(over) or stands_for[name] or name
  end
  for name, buffer in pairs(program.buffers) do
    if stands_for[name] then goto continue end
    local key = root_of(name)
    all[name] = { name = name, root = key, pitch = buffer.pitch, values = {}, inner = {}, under = {}, beside = {},
      reads = {}, past = buffer.class == "out" and {} or nil }
    root[key] = root[key] or {}
    table.insert(root[key], all[name])
    ::continue::
  end
  for _, list in pairs(root) do
    for _, record in ipairs(list) do
      for _, other in ipairs(list) do
        if other ~= record then record.under[#record.under + 1] = other end
      end
    end
  end
  for name, other in pairs(stands_for) do all[name] = all[other] end
  for name, record in pairs(all) do
    for _, other in ipairs(name == record.name and beside[name] or {}) do
      if all[other].root ~= record.root then record.beside[#record.beside + 1] = all[other] end
    end
  end
  return all
end

-- Returns the rectangles of an operand in the first iteration of every loop.
local function rectangles_of(record, operand, dimensions)
  return rectangles.of(footprint.boxes(dimensions), record.pitch, operand.offset)
end

-- Forgets the reads of a buffer whose elements may have ended, so that the next ones are checked again.
local function forget(record) if next(record.reads) then record.reads = {} end end

-- Returns the read of a buffer at an offset that was checked last, { loop, each, of_group }; an empty one if there is
-- none.
local function read_of(record, dimensions, offset)
  local of = record.reads[dimensions] or {}
  record.reads[dimensions], of[offset] = of, of[offset] or {}
  return of[offset]
end

-- Ends the values in workers' own buffers, as a chunk begins: another worker may have done the chunk before.
local function begin_chunk(all, own)
  for name, is_own in pairs(own) do
    local record = all[name]
    if is_own and #record.values > 0 then
      record.values, record.inner, record.ended_by = {}, {}, "another worker"
      forget(record)
    end
  end
end

-- Adds a rectangle, `distance` elements further; what is beyond the end of a row begins the next one.
local function add_further(set, rectangle, distance, pitch)
  local top, bottom = rectangle[1] + distance // pitch, rectangle[2] + distance // pitch
  local left, right = rectangle[3] + distance % pitch, rectangle[4] + distance % pitch
  if left < pitch then rectangles.add(set, { top, bottom, left, math.min(right, pitch) }) end
  if right > pitch then rectangles.add(set, { top + 1, bottom + 1, math.max(left - pitch, 0), right - pitch }) end
end

-- Adds a rectangle `count` times, each `stride` elements further; as one rectangle if they form one.
local function spread(set, rectangle, stride, count, pitch)
  local rows, columns = stride // pitch, stride % pitch
  if columns == 0 and rectangle[2] - rectangle[1] == rows then
    rectangles.add(set, { rectangle[1], rectangle[1] + rows * count, rectangle[3], rectangle[4] })
  elseif rows == 0 and rectangle[4] - rectangle[3] == columns and rectangle[3] + columns * count <= pitch then
    rectangles.add(set, { rectangle[1], rectangle[2], rectangle[3], rectangle[3] + columns * count })
  else
    for i = 0, count - 1 do add_further(set, rectangle, i * stride, pitch) end
  end
end

-- Adds a rectangle for all iterations of a loop in which it moves by `each` elements, and by `of_group` more from group
-- to group of the loop.
local function spread_over(set, rectangle, loop, each, of_group, pitch)
  if of_group == 0 then return spread(set, rectangle, each, loop.count, pitch) end
  local group = math.min(loop.group, loop.count)
  for first = 0, loop.count - 1, group do
    local of_first = {}
    add_further(of_first, rectangle, first * each + first // group * of_group, pitch)
    for _, part in ipairs(of_first) do spread(set, part, each, group, pitch) end
  end
end

-- Returns how far an operand moves from one iteration of the open loop to the next, and by how much more from one group
-- of its iterations to the next; nil if it does not move, or no loop is open.
function Flow:move(terms)
  local loop = self.loop
  local each, of_group = loop and terms[loop.symbol] or 0, loop and loop.group and terms.kv_head or 0
  if each + of_group > 0 then return each, of_group end
end

function Flow:holds(record, rectangle, each, of_group)
  if not each then return rectangles.covers(record.values, rectangle) end
  if record.each == each and record.of_group == of_group and rectangles.covers(record.inner, rectangle) then
    return true
  end
  local all = {}
  spread_over(all, rectangle, self.loop, each, of_group, record.pitch)
  for _, part in ipairs(all) do if not rectangles.covers(record.values, part) then return false end end
  return true
end

-- Checks a read. One read again (by many panels' products) before any value of its buffer ended is still there.
function Flow:read(operand, dimensions, section)
  local record, each, of_group = self.records[operand.buffer], self:move(operand.terms or NO_TERMS)
  local known, loop = read_of(record, dimensions, operand.offset), self.loop or NO_LOOP
  if known.loop == loop and known.each == each and known.of_group == of_group then return end
  local list = rectangles_of(record, operand, dimensions)
  for i = 1, #list do
    if not self:holds(record, list[i], each, of_group) then
      expect(not record.ended_by, self.pass, "%s reads %s, which %s has overwritten", section.name, operand.buffer,
        record.ended_by)
      expect(false, self.pass, "%s reads %s before it is written", section.name, operand.buffer)
    end
  end
  known.loop, known.each, known.of_group = loop, each, of_group
end

-- Ends the values of all buffers that overlap one that is written.
function Flow:claim(record)
  if record.alone then return end
  record.alone = true
  for _, other in ipairs(record.beside) do
    other.alone = false
    forget(other)
    if #other.values > 0 or #other.inner > 0 then
      if self.loop and self.loop.again and #other.inner > 0 then other.lost = true end
      if self.again and self.moving[other] then other.gone = true end
      if other.past then
        for _, rectangle in ipairs(other.values) do rectangles.add(other.past, rectangle) end
        for _, rectangle in ipairs(other.inner) do
          spread_over(other.past, rectangle, self.loop, other.each, other.of_group, other.pitch)
        end
      end
      other.values, other.inner, other.ended_by = {}, {}, record.name
    end
  end
end

function Flow:write(operand, dimensions)
  local record, terms = self.records[operand.buffer], operand.terms or NO_TERMS
  local each, of_group = self:move(terms)
  local set = each and record.inner or record.values
  if each then
    if #record.inner == 0 then record.each, record.of_group = each, of_group end
    expect(record.each == each and record.of_group == of_group, self.pass, "%s is written in steps of two sizes",
      operand.buffer)
    self.loop.records[record] = true
  end
  if terms.s and self.segment.repeats > 1 then
    record.sequence = terms.s
    self.moving[record] = true
  end
  self:claim(record)
  for _, rectangle in ipairs(rectangles_of(record, operand, dimensions)) do
    for _, other in ipairs(record.under) do
      forget(other)
      rectangles.remove(other.values, rectangle)
      rectangles.remove(other.inner, rectangle)
    end
    rectangles.add(set, rectangle)
  end
end

-- Ends the second walk of a loop's body; then the values that moved with it are there for all iterations.
function Flow:finish()
  local loop = self.loop
  loop.again = true
  for _, each in ipairs(loop.body) do self:touch(each[1], each[2]) end
  for record in pairs(loop.records) do
    for _, rectangle in ipairs(record.lost and {} or record.inner) do
      spread_over(record.values, rectangle, loop, record.each, record.of_group, record.pitch)
    end
    record.inner, record.lost = {}, nil
    forget(record)
  end
  self.loop = nil
end

-- Adds the values that move with the micro-batches for all of them; the last micro-batch ends with the batch.
function Flow:of_all_micro_batches(record, set, batch)
  local all, micro_batch = {}, self.segment.micro_batch
  for _, rectangle in ipairs(set) do
    spread(all, rectangle, micro_batch * record.sequence, batch // micro_batch, record.pitch)
    if batch % micro_batch > 0 then
      local far = (batch - micro_batch) * record.sequence
      local rows, columns = far // record.pitch, far % record.pitch
      rectangles.add(all, { rectangle[1] + rows, rectangle[2] + rows, rectangle[3] + columns, rectangle[4] + columns })
    end
  end
  return all
end

function Flow:end_segment(batch)
  for record in pairs(self.moving) do
    record.values = record.gone and {} or self:of_all_micro_batches(record, record.values, batch)
    record.past = record.past and self:of_all_micro_batches(record, record.past, batch)
    record.gone = nil
    forget(record)
  end
  self.moving = {}
end

function Flow:touch(step, section)
  local written, count = self.written, 0
  local unseen = self.unseen[step]
  self.walk(step, function(operand, access, dimensions)
    if operand == unseen then return end
    if access ~= "w" then self:read(operand, dimensions, section) end
    if access ~= "r" then written[count + 1], written[count + 2], count = operand, dimensions, count + 2 end
  end, KEPT)
  for i = 1, count, 2 do self:write(written[i], written[i + 1]) end
end

-- Returns a list of steps in which the first panel of each panel loop is apart from the others, which the steps that
-- follow do one step after the other. So what a panel leaves to the next is seen.
function Flow:first_panels_apart(list)
  local result, part, at = {}, panel_loops.parts(), 1
  while at <= #list do
    local panels, stop = list[at].panels, at
    while panels and list[stop + 1] and list[stop + 1].panels == panels do stop = stop + 1 end
    local parts = panels and (panels.count > 1 and { { 0, 1 }, { 1, panels.count - 1 } } or { { 0, 1 } })
    for _, each in ipairs(parts or { {} }) do
      for i = at, stop do
        local step = panels and part(list[i], each[1], each[2]) or list[i]
        local unseen = self.unseen[list[i]]
        for name, operand in pairs(unseen and list[i].arguments or {}) do
          if operand == unseen then self.unseen[step] = step.arguments[name] end
        end
        result[#result + 1] = step
      end
    end
    at = stop + 1
  end
  return result
end

function Flow:step(step, section)
  if step.form == "begin" then
    self.loop = { count = step.count, group = step.group, symbol = step.loop == "heads" and "head" or "b",
      records = {}, body = {} }
  elseif step.form == "finish" then
    self:finish()
  elseif programs.is_call(step) then
    if self.loop then table.insert(self.loop.body, { step, section }) end
    self:touch(step, section)
  end
end

--- Walks a program. Checks that every element of the arena and of an output is read as it was written last, and that
--- every output is written whole. beside: buffer -> the others that overlap it. state: gives the batch and the shapes
--- of outputs. unseen: nil, or step -> the operand that the step has elsewhere than in its buffer. stands_for: of
--- repeated.left_out, if the program is its result. call: of instance.calls, if the program is of one.
return function(state, program, beside, pass, unseen, stands_for, call)
  local self = setmetatable({ pass = pass, unseen = setmetatable({}, { __index = unseen }),
    records = records(program, beside, stands_for or {}), moving = {}, written = {}, walk = operands.walk(true) }, Flow)
  for _, segment in ipairs(program.segments) do
    self.segment = segment
    for round = 1, segment.repeats > 1 and 2 or 1 do
      self.again = round > 1
      programs.each_list({ segments = { segment } }, function(list, section)
        if segment.mode == "phases" and program.own then begin_chunk(self.records, program.own) end
        for _, step in ipairs(self:first_panels_apart(list)) do self:step(step, section) end
      end)
    end
    self:end_segment(state.spec.batch)
  end
  for _, name in ipairs(program.entry.outputs) do
    local tensor = state.graph.tensors[name]
    local bytes = types.bytes(1, tensor.type)
    for _, n in ipairs(tensor.shape) do bytes = bytes * n end
    if call then bytes = instance.tensor_bytes(tensor, state.spec, call) end
    local record = self.records[name]
    for _, rectangle in ipairs(rectangles.of({ { first = 0, rows = 1, cols = bytes, ld = 0 } }, record.pitch, 0)) do
      for _, value in ipairs(record.values) do rectangles.add(record.past, value) end
    expect(rectangles.covers(record.past, rectangle), pass, "output %s is not written whole", name)
    end
  end
end
