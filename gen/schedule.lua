-- schedule: steps -> ordered steps a worker, and the meetings between workers. Today one
-- worker takes every section in the order of the graph, and nobody meets.
--
-- Before: state.programs.  After: each program has workers = { { segments } }, meetings = {},
-- lines = the number of its steps, and each step its position in the worker's order.
local lower = require("lower")

local schedule = {}

--- Calls visit(step, section, segment) for each step of a worker, in order.
function schedule.each(worker, visit)
  for _, segment in ipairs(worker.segments) do
    for _, section in ipairs(segment.sections) do
      for _, step in ipairs(section.steps) do visit(step, section, segment) end
    end
  end
end

--- Whether a step is a call, not a note or a loop's bracket.
function schedule.is_call(step) return step.form == "product" or step.form == "map" or step.form == "row" end

function schedule.run(state)
  for _, program in ipairs(state.programs) do
    program.workers = { { segments = program.segments } }
    program.meetings = {}
    program.lines = 0
    local position = 0
    schedule.each(program.workers[1], function(step)
      position = position + 1
      step.position = position
      if schedule.is_call(step) then program.lines = program.lines + 1 end
    end)
  end
end

--- The shipped programs' steps in order, numbered.
function schedule.dump(state)
  local lines = {}
  for _, program in ipairs(state.programs) do
    if program.variant == "ship" then
      for index, worker in ipairs(program.workers) do
        lines[#lines + 1] = ("%s: worker %d of %d, %d meetings"):format(program.entry.name, index, #program.workers,
          #program.meetings)
        local section_before
        schedule.each(worker, function(step, section, segment)
          if section ~= section_before then
            lines[#lines + 1] = ("  segment %s, section %s"):format(segment.name, section.name)
            section_before = section
          end
          if schedule.is_call(step) then
            lines[#lines + 1] = ("  %5d %s"):format(step.position, lower.step_text(step))
          end
        end)
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return schedule
