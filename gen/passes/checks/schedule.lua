-- schedule.lua: checks that between two barriers only one worker uses an element that is written.
-- Workers that divide phases have a barrier after each; workers that divide micro-batches have one at the end.
local expect = require("passes.checks.expect")
local footprint = require("data.footprint")
local operands = require("data.operands")
local programs = require("passes.common.programs")
local rectangles = require("passes.checks.rectangles")

local WRITTEN = { arena = true, out = true } -- classes of buffers that steps write

-- Adds the bytes that a step touches in buffers that are written: sets[buffer][stride of b][access] is a set of
-- rectangles. Buffers that overlap on purpose count as one.
local function add(walk, sets, step, program)
  walk(step, function(operand, access, dimensions)
    local slot = programs.slot(program.buffers, operand.buffer)
    local buffer = program.buffers[slot]
    sets[slot] = sets[slot] or {}
    local of_buffer, stride = sets[slot], (operand.terms or {}).b or 0
    of_buffer[stride] = of_buffer[stride] or { r = {}, w = {} }
    local set = of_buffer[stride][access == "r" and "r" or "w"]
    for _, rectangle in ipairs(rectangles.of(footprint.boxes(dimensions), buffer.pitch, operand.offset)) do
      rectangles.add(set, rectangle)
    end
  end, WRITTEN)
end

-- Returns a set moved by `bytes`.
local function moved(set, bytes, pitch)
  local rows, columns, list = bytes // pitch, bytes % pitch, {}
  for i, r in ipairs(set) do list[i] = { r[1] + rows, r[2] + rows, r[3] + columns, r[4] + columns } end
  return list
end

-- Returns a set of the first sequence as that of all sequences.
local function of_all(set, stride, count, pitch)
  if stride == 0 then return set end
  local all = {}
  for b = 0, count - 1 do
    for _, rectangle in ipairs(moved(set, b * stride, pitch)) do rectangles.add(all, rectangle) end
  end
  return all
end

local function any_meet(a, b)
  for _, x in ipairs(a) do
    for _, y in ipairs(b) do if rectangles.overlap(x, y) then return true end end
  end
  return false
end

-- True if a set stays within one sequence. Two such sets that move by this stride overlap in no sequence unless they
-- overlap in the first.
local function keeps_to(set, stride, pitch)
  for _, r in ipairs(set) do
    if stride % pitch ~= 0 or r[1] < 0 or r[2] > stride // pitch then return false end
  end
  return true
end

local function clash(one, stride_one, other, stride_other, count, pitch)
  if #one == 0 or #other == 0 then return false end
  local alike = stride_one == stride_other and stride_one > 0
  if alike and keeps_to(one, stride_one, pitch) and keeps_to(other, stride_one, pitch) then
    return any_meet(one, other)
  end
  return any_meet(of_all(one, stride_one, count, pitch), of_all(other, stride_other, count, pitch))
end

local function check_phase(phase, segment, program)
  local of_worker, walk = {}, operands.walk()
  for worker, list in ipairs(phase.lists) do
    of_worker[worker] = {}
    for _, step in ipairs(list) do add(walk, of_worker[worker], step, program) end
  end
  local function compare(name, mine, theirs)
    local pitch = program.buffers[name].pitch
    for stride_one, one in pairs(mine) do
      for stride_other, other in pairs(theirs) do
        expect(not clash(one.w, stride_one, other.w, stride_other, segment.micro_batch, pitch), "schedule",
          "%s: two workers write the same elements of %s", phase.section.name, name)
        expect(not clash(one.w, stride_one, other.r, stride_other, segment.micro_batch, pitch), "schedule",
          "%s: %s is read and written in one phase", phase.section.name, name)
      end
    end
  end
  for worker, sets in ipairs(of_worker) do
    for name, mine in pairs(sets) do
      for other, theirs in ipairs(of_worker) do
        if other ~= worker and theirs[name] then compare(name, mine, theirs[name]) end
      end
    end
  end
end

-- Returns the distances, in sequences, between the first sequences of neighbouring micro-batches of two workers. The
-- last micro-batch ends with the batch; worker w has those from w repeats / workers on (steps.c.in).
local function distances(segment, workers, batch)
  local list = {}
  for worker = 1, workers - 1 do
    local i = worker * segment.repeats // workers
    if i > 0 then
      list[#list + 1] = math.min(i * segment.micro_batch, batch - segment.micro_batch) - (i - 1) * segment.micro_batch
    end
  end
  return list
end

-- Checks groups of sequences on several workers. Writes to a buffer of all sequences move with them, and another
-- micro-batch neither reads nor writes those bytes. A buffer that does not move is each worker's own (checked with
-- its offset).
local function check_micro_batches(segment, program, batch)
  local sets, strides, section_of, walk = {}, {}, {}, operands.walk()
  for _, section in ipairs(segment.sections) do
    for _, step in ipairs(section.steps) do
      walk(step, function(operand, access)
        local stride = operand.terms and operand.terms.s or 0
        local name = programs.slot(program.buffers, operand.buffer)
        section_of[name] = section.name
        if operand.class == "out" and access ~= "r" then
          expect(stride > 0, "schedule", "%s: two workers write the same elements of %s", section.name, operand.buffer)
        end
        expect((strides[name] or stride) == stride, "schedule", "%s: %s moves in two ways", section.name, name)
        strides[name] = stride
      end, WRITTEN)
      add(walk, sets, step, program)
    end
  end
  for name, of_buffer in pairs(sets) do
    local pitch, written, touched = program.buffers[name].pitch, {}, {}
    for stride, set in pairs(of_buffer) do
      for access, rectangles_ in pairs(set) do
        for _, r in ipairs(of_all(rectangles_, stride, segment.micro_batch, pitch)) do
          if access == "w" then rectangles.add(written, r) end
          rectangles.add(touched, r)
        end
      end
    end
    for _, distance in ipairs(strides[name] > 0 and distances(segment, program.threads, batch)
      or {}) do
      for _, sign in ipairs { 1, -1 } do
        expect(not any_meet(moved(written, sign * distance * strides[name], pitch), touched), "schedule",
          "%s: two workers write the same elements of %s", section_of[name], name)
      end
    end
  end
end

--- Checks that workers do not touch the same elements without a barrier in between, and that no call is lost.
return function(state)
  for _, program in ipairs(state.programs) do
    for _, segment in ipairs(program.segments) do
      if segment.mode == "micro_batches" then check_micro_batches(segment, program, state.spec.batch) end
      for _, phase in ipairs(segment.phases or {}) do check_phase(phase, segment, program) end
    end
    local calls = 0
    for _, segment in ipairs(program.segments) do
      for _, section in ipairs(segment.sections) do
        for _, step in ipairs(section.steps) do calls = calls + (programs.is_call(step) and 1 or 0) end
      end
    end
    local scheduled = 0
    programs.each(program, function(step) scheduled = scheduled + (programs.is_call(step) and 1 or 0) end)
    expect(scheduled == calls, "schedule", "%d of %d steps are scheduled", scheduled, calls)
  end
end
