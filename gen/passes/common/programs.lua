-- programs.lua: iterates over the steps of scheduled programs: by chunk, by phase, by moment of the arena.
local panel_loops = require("passes.common.panel_loops")

local programs = {}

--- True if a step is a call, not a note or a loop's bracket.
function programs.is_call(step) return step.form == "product" or step.form == "map" or step.form == "row" end

--- Returns place_of(operand): its bytes from the packed weights, the arena, a worker's part or the state on.
function programs.places(state, program)
  local first = { weight = state.weights.offsets, arena = program.offsets, state = state.kept.offsets }
  return function(operand) return first[operand.class][operand.buffer] + operand.offset end
end

--- Calls visit(list, section, segment, chunk, phase) for each list of steps that one worker does without a barrier.
function programs.each_list(program, visit)
  for _, segment in ipairs(program.segments) do
    if segment.mode == "phases" then
      for number, phase in ipairs(segment.phases) do
        for chunk, list in ipairs(phase.chunks) do visit(list, phase.section, segment, chunk, number) end
      end
    else
      for _, section in ipairs(segment.sections) do visit(section.steps, section, segment, 1, 0) end
    end
  end
end

--- Returns the stretches of a program whose workers divide calls: { section's name, region, phases }, in order.
function programs.stretches(program)
  local list = {}
  for _, segment in ipairs(program.segments) do
    for _, phase in ipairs(segment.phases) do
      local last = list[#list]
      if not last or last.region ~= phase.stretch then
        last = { region = phase.stretch, section = phase.section.name, phases = {} }
        list[#list + 1] = last
      end
      table.insert(last.phases, phase)
    end
  end
  return list
end

--- Calls visit(step, section, segment, chunk, phase) for each step of a program; the steps of a chunk come in order.
function programs.each(program, visit)
  programs.each_list(program, function(list, ...)
    for _, step in ipairs(list) do visit(step, ...) end
  end)
end

--- Calls visit(step, times) for each call of a program; times: how often a call of the model runs it.
function programs.each_call(program, visit)
  programs.each_list(program, function(list, _, segment)
    local times, open = segment.repeats, {}
    for _, step in ipairs(list) do
      if step.form == "begin" then
        open[#open + 1], times = times, times * step.count
      elseif step.form == "finish" then
        times = table.remove(open)
      elseif programs.is_call(step) then
        visit(step, times * panel_loops.count(step))
      end
    end
  end)
end

--- Returns the slot of a buffer or stored tensor: the one that it overlaps on purpose, or itself. A norm's result in
--- place of its input has two names. all: those, by name.
function programs.slot(all, name)
  while all[name].over do name = all[name].over end
  return name
end

--- Calls visit(step, moment, segment, phase, section) for each step of a program. A moment is a step, a fused product
--- and map, a panel loop, or, where workers run at the same time, a phase.
function programs.moments(program, visit)
  local moment, phase_of, panels = 0, {}, nil
  programs.each(program, function(step, section, segment, _, phase)
    local is_begun = phase == 0 and (program.fused_maps[step] or step.panels and step.panels == panels)
    panels = step.panels
    if not is_begun and phase == 0 or phase_of[segment] ~= phase then moment = moment + 1 end
    phase_of[segment] = phase
    visit(step, moment, segment, phase, section)
  end)
end

--- Returns the first and last step of each moment, counted in steps of the emitted text, and the number of steps. A
--- moment without a step (a note or a bracket) has the next and the last one.
function programs.steps_of(program)
  local first, last, count, moments = {}, {}, 0, 0
  programs.moments(program, function(step, moment)
    if programs.is_call(step) then
      first[moment] = first[moment] or count + 1
      count = count + panel_loops.count(step)
      last[moment] = count
    end
    moments = moment
  end)
  for moment = 1, moments do last[moment] = last[moment] or last[moment - 1] or 1 end
  for moment = moments, 1, -1 do first[moment] = first[moment] or first[moment + 1] or count end
  return first, last, count
end

return programs
