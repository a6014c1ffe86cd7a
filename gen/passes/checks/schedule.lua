-- schedule.lua: checks that between two barriers only one chunk uses an element that is written, so that any worker may
-- do any chunk. There is a barrier after each phase, and after all micro-batches.
local expect = require("passes.checks.expect")
local instance = require("passes.checks.instance")
local meetings = require("passes.checks.meetings")
local operands = require("data.operands")
local panel_loops = require("passes.common.panel_loops")
local programs = require("passes.common.programs")
local rectangles = require("passes.checks.rectangles")
local repeated = require("passes.checks.repeated")
local tasks = require("passes.common.tasks")
local touched = require("passes.checks.touched")
local words = require("common.words")

-- Checks that no two chunks of a phase touch an element that one of them writes, since any two may be done at the same
-- time. Each worker has its own buffers for itself.
local function check_phase(phase, segment, program)
  local of_chunk, walk = {}, operands.walk()
  local step
  local function is_own(name) return tasks.is_own(program.buffers[name], step, program.threads) end
  for chunk, list in ipairs(phase.chunks) do
    of_chunk[chunk] = {}
    for _, each in ipairs(list) do
      step = each
      touched.add(walk, of_chunk[chunk], step, program, is_own)
    end
  end
  local function compare(name, mine, theirs)
    local pitch = program.buffers[name].pitch
    for stride_one, one in pairs(mine) do
      for stride_other, other in pairs(theirs) do
        expect(not touched.clash(one.w, stride_one, other.w, stride_other, segment.micro_batch, pitch), "schedule",
          "%s: two workers write the same elements of %s", phase.section.name, name)
        expect(not touched.clash(one.w, stride_one, other.r, stride_other, segment.micro_batch, pitch), "schedule",
          "%s: %s is read and written in one phase", phase.section.name, name)
      end
    end
  end
  for chunk, sets in ipairs(of_chunk) do
    for name, mine in pairs(sets) do
      for other, theirs in ipairs(of_chunk) do
        if other ~= chunk and theirs[name] then compare(name, mine, theirs[name]) end
      end
    end
  end
end

-- Returns the distances, in sequences, between micro-batches that two workers may have at the same time. The last
-- micro-batch ends with the batch; run c has those from c repeats / chunks on (steps.c.in).
local function distances(segment, batch)
  local list, seen = {}, {}
  local function first_of(i) return math.min(i * segment.micro_batch, batch - segment.micro_batch) end
  for run = 1, segment.chunks - 1 do
    local next_run = run * segment.repeats // segment.chunks
    for i = 0, next_run - 1 do
      local distance = first_of(next_run) - first_of(i)
      if not seen[distance] then
        seen[distance] = true
        list[#list + 1] = distance
      end
    end
  end
  return list
end

-- Checks groups of sequences on several workers. Writes to a buffer of all sequences move with them, and no other
-- micro-batch has those bytes. A buffer that does not move is each worker's own (checked with its offset).
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
      end, touched.classes)
      touched.add(walk, sets, step, program)
    end
  end
  for name, of_buffer in pairs(sets) do
    local pitch, written, all = program.buffers[name].pitch, {}, {}
    for stride, set in pairs(of_buffer) do
      for access, rectangles_ in pairs(set) do
        for _, r in ipairs(touched.of_all(rectangles_, stride, segment.micro_batch, pitch)) do
          if access == "w" then rectangles.add(written, r) end
          rectangles.add(all, r)
        end
      end
    end
    for _, distance in ipairs(strides[name] > 0 and distances(segment, batch) or {}) do
      for _, sign in ipairs { 1, -1 } do
        expect(not touched.any_meet(touched.moved(written, sign * distance * strides[name], pitch), all), "schedule",
          "%s: two workers write the same elements of %s", section_of[name], name)
      end
    end
  end
end

local function check_phases(program)
  for _, segment in ipairs(program.segments) do
    for _, phase in ipairs(segment.phases or {}) do check_phase(phase, segment, program) end
  end
end

-- Checks the chunks of a program with open sizes, as some calls have them.
local function check_calls(program, spec, windows)
  for _, call in ipairs(instance.calls(program, spec, windows)) do
    if call.flows or call.chunks then check_phases(instance.of(program, call)) end
  end
end

--- Checks that workers do not touch the same elements without a barrier in between, that the plan's meetings are those
--- that the data needs, and that no call is lost.
return function(state)
  for _, program in ipairs(state.programs) do
    if program.divided then
      check_calls(repeated.left_out(state, program), state.spec, state.kept.windows)
    else
      meetings(state, program)
      if words.any(program.segments, function(segment) return segment.phases end) then
        check_phases(instance.of_one(repeated.left_out(state, program), state.spec))
      end
      for _, segment in ipairs(program.segments) do
        if segment.mode == "micro_batches" then check_micro_batches(segment, program, state.spec.batch) end
      end
    end
    local calls = 0
    for _, segment in ipairs(program.segments) do
      for _, section in ipairs(segment.sections) do
        for _, step in ipairs(section.steps) do
          calls = calls + (programs.is_call(step) and panel_loops.count(step) or 0)
        end
      end
    end
    local scheduled = 0
    programs.each(program, function(step)
      scheduled = scheduled + (programs.is_call(step) and panel_loops.count(step) or 0)
    end)
    expect(scheduled == calls, "schedule", "%d of %d steps are scheduled", scheduled, calls)
  end
end
