-- meetings.lua: compares the meetings that the plan names with those that the bytes of the lowered steps need. A task
-- needs a barrier before it in two cases: it touches an element that a task since the last barrier has written, or it
-- writes one that such a task has touched. Each worker's own buffers need none. Workers always meet between sections.
local expect = require("passes.checks.expect")
local operands = require("data.operands")
local programs = require("passes.common.programs")
local tasks = require("passes.common.tasks")
local touched = require("passes.checks.touched")
local words = require("common.words")

-- Returns the bytes that the steps of each task touch, by the plan's record of the task, and a tensor that it makes.
local function sets_of_tasks(section, program, entry)
  local sets_of, name_of, walk = {}, {}, operands.walk()
  for _, step in ipairs(section.steps) do
    if programs.is_call(step) then
      local record = tasks.partition(step, program.threads)
      sets_of[record] = sets_of[record] or {}
      name_of[record] = name_of[record] or entry.ops[step.op].result.name
      touched.add(walk, sets_of[record], step, program, function(name)
        return tasks.is_own(program.buffers[name], step, program.threads)
      end)
    end
  end
  return sets_of, name_of
end

-- Returns the first buffer, by name, that two tasks cannot both touch without a barrier between them, or nil.
local function common(before, sets, count, program)
  for _, name in ipairs(words.sorted_keys(sets)) do
    local theirs, pitch = sets[name], program.buffers[name].pitch
    for stride_one, one in pairs(before[name] or {}) do
      for stride_other, other in pairs(theirs) do
        local function clash(a, b) return touched.clash(one[a], stride_one, other[b], stride_other, count, pitch) end
        if clash("w", "r") or clash("w", "w") or clash("r", "w") then return name end
      end
    end
  end
  return nil
end

-- Checks the meetings of a section's tasks; returns the phase of each, by the plan's record.
local function check_section(planned, section, segment, program)
  local sets_of, name_of = sets_of_tasks(section, program, program.entry)
  local before, phase_of, number = {}, {}, 1
  for _, region in ipairs(planned.regions) do
    for _, record in ipairs(region.partition[program.threads]) do
      local sets, name = sets_of[record] or {}, name_of[record] or "a task without steps"
      local needs = common(before, sets, segment.micro_batch, program)
      if record.meeting == "own" then -- the chunks of the schedule are checked
        expect(region.loop and record.axis == "rows", "schedule", "%s: workers go on with rows before %s", section.name,
          name)
      elseif record.meeting == "barrier" then
        expect(needs, "schedule", "%s: the plan names a barrier before %s, which nobody needs", section.name, name)
        before, number = {}, number + 1
      else
        expect(not needs, "schedule", "%s: %s needs a barrier for %s, which the plan does not name", section.name, name,
          needs)
      end
      touched.merge(before, sets)
      phase_of[record] = number
    end
  end
  return phase_of
end

--- Checks the plan's meetings against the data, and the phases of a program against the plan's meetings.
return function(state, program)
  for i, segment in ipairs(program.segments) do
    local phase_of, number_in = {}, {}
    for j, section in ipairs(segment.phases and segment.sections or {}) do
      phase_of[section] = check_section(state.plan.segments[i].sections[j], section, segment, program)
    end
    for _, phase in ipairs(segment.phases or {}) do
      local section = phase.section
      number_in[section] = (number_in[section] or 0) + 1
      for _, list in ipairs(phase.chunks) do
        for _, step in ipairs(list) do
          expect(not programs.is_call(step)
            or phase_of[section][tasks.partition(step, program.threads)] == number_in[section], "schedule",
            "%s: phase %d has a step of another phase of the plan", section.name, number_in[section])
        end
      end
    end
  end
end
