-- panel_loops.lua: checks panel loops: each makes all the calls of its steps, in order, with the same operands.
-- The check runs the loop.
local calls = require("passes.common.calls")
local expect = require("passes.checks.expect")
local operands = require("data.operands")
local programs = require("passes.common.programs")

-- Checks one call of the loop against the step in its place.
local function check_call(program, each, call, panel, step, section)
  expect(step and programs.is_call(step) and calls.callee(step, program.fused_kernels[step])
    == calls.callee(call.step, call.pair), "kernels", "%s: panel %d of %s makes another call than its step",
    section.name, panel, each.name)
  expect(program.variant ~= "ship" or step.op == each.steps[1].op, "kernels", "%s: %s does two operations",
    section.name, each.name)
  local number = 0
  calls.each_operand(step, program.fused_kernels[step], function(operand, access, type, name)
    number = number + 1
    local place = call.operands[number]
    local parameter = each.parameters[place.parameter]
    expect(access ~= "value" and type == parameter.type and (access == "r" or parameter.is_written)
      and operands.same_buffer(operand, parameter.operand)
      and operand.offset == parameter.operand.offset + place.offset + panel * place.stride, "kernels",
      "%s: panel %d of %s has another %s than its step", section.name, panel, each.name, name)
  end)
  expect(number == #call.operands, "kernels", "%s: %s has operands that no step has", section.name, each.name)
end

-- Checks the panel loop that begins at lines[at]; returns the number of steps that it does.
local function check_panel_loops(program, each, lines, at, section)
  local done = 0
  for panel = 0, each.count - 1 do
    for _, call in ipairs(each.calls) do
      local step = lines[at + done]
      check_call(program, each, call, panel, step, section)
      expect(done == 0 or program.in_panel_loop[step], "kernels", "%s: a step of %s is done again", section.name,
        each.name)
      done = done + 1
    end
  end
  return done
end

--- Checks that panel loops do the same as their steps, and that no other step is left out.
return function(program)
  programs.each_list(program, function(list, section)
    local lines, at = {}, 1
    for _, step in ipairs(list) do
      if not program.fused_maps[step] then lines[#lines + 1] = step end
    end
    while at <= #lines do
      local each = program.panel_loops[lines[at]]
      expect(not program.in_panel_loop[lines[at]], "kernels", "%s: a step is of no panel loop and has no call",
        section.name)
      at = at + (each and check_panel_loops(program, each, lines, at, section) or 1)
    end
  end)
end
