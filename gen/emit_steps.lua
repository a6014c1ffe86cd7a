-- emit_steps: a scheduled program as C functions: one a section, or, where workers divide a
-- section, one a phase and worker; a line a step.
local c = require("c")
local operands = require("operands")
local schedule = require("schedule")
local steps = require("steps")

local emit_steps = {}

local function place_of(state, program)
  local members = {}
  for name, tensor in pairs(state.graph.tensors) do members[name] = tensor.member end
  return { offsets = program.offsets, own = program.own, weights = state.weights.offsets, members = members }
end

local writers = {}

function writers.note(step) return "/* " .. c.comment(step.text) .. " */" end
function writers.begin(step)
  return ("for (size_t %s = 0; %s < %d; %s++) {"):format(step.symbol, step.symbol, step.count, step.symbol)
end
function writers.finish() return "}" end

function writers.product(step, place)
  if step.calls then
    return ("%s(k, %s, %s, %s);"):format(step.function_name, c.pointer(step.a, place), c.pointer(step.b, place),
      c.pointer(step.c, place))
  end
  return ("k[%d](%s, %s, %s, %s);"):format(step.kernel_index, c.pointer(step.a, place), c.pointer(step.b, place),
    c.pointer(step.c, place), step.batch_name)
end

function writers.map(step, place)
  local list = {}
  for i, argument in ipairs(step.arguments) do list[i] = c.pointer(argument[2], place) end
  return ("%s(%s);"):format(step.function_name, table.concat(list, ", "))
end

function writers.row(step, place)
  local list = {}
  for _, argument in ipairs(steps.rows[step.fn].arguments) do
    local operand = step.arguments[argument[1]]
    if operand then
      list[#list + 1] = argument[2] == "value" and c.value(operand, place) or c.pointer(operand, place)
    end
  end
  return ("%s(%s);"):format(step.function_name, table.concat(list, ", "))
end

-- What steps use, as the parameters of their function: kernels, weights, arena, the worker's own part of it, inputs,
-- outputs, the first sequence.
local parameter_order = { "k", "w", "a", "p", "in", "out", "s" }

local function parameters(state, program, list)
  local used = {}
  for _, step in ipairs(list) do
    if step.form == "product" then used.k = true end
    operands.each(step, function(operand)
      if operand.class == "weight" then used.w = true end
      if operand.class == "arena" then used[program.own[operand.buffer] and "p" or "a"] = true end
      if operand.class == "in" then used["in"] = true end
      if operand.class == "out" then used.out = true end
      if operand.terms and operand.terms.s then used.s = true end
    end)
  end
  local name = state.spec.name
  local entry = program.entry.name
  local declared = {
    k = "const attn2c_kernel *k", w = "const float *w", a = "float *a", p = "float *p",
    ["in"] = ("const %s_%s_in *in"):format(name, entry), out = ("const %s_%s_out *out"):format(name, entry),
    s = "size_t s",
  }
  local formal, actual = {}, {}
  for _, parameter in ipairs(parameter_order) do
    if used[parameter] then
      formal[#formal + 1], actual[#actual + 1] = declared[parameter], parameter
    end
  end
  return formal, actual
end

-- The lines of a list of steps; in a profile, a lap behind each run of steps of one op. Returns them and the last op.
local function lines_of(list, place, profile)
  local lines, indent = {}, "  "
  local lap, last = nil, 1
  local function add(text) lines[#lines + 1] = indent .. text end
  local function end_lap()
    if profile and lap then add(("attn2c_lap(lap, %d);"):format(lap - 1)) end
    lap = nil
  end
  for _, step in ipairs(list) do
    if schedule.is_call(step) and lap ~= step.op then
      end_lap()
      lap, last = step.op, step.op
    end
    if step.form == "finish" then
      end_lap()
      indent = indent:sub(3)
    end
    add(writers[step.form](step, place))
    if step.form == "begin" then indent = indent .. "  " end
  end
  end_lap()
  return table.concat(lines, "\n"), last - 1
end

local function section_function(name) return (name:gsub(" ", "_")) end

-- A list of steps as { name, title, formal, call, lines, last_op }.
local function function_of(state, program, name, title, list, place, profile)
  local formal, actual = parameters(state, program, list)
  if profile then
    formal[#formal + 1] = "attn2c_laps *lap"
    actual[#actual + 1] = "lap"
  end
  local lines, last_op = lines_of(list, place, profile)
  return { name = name, title = title, formal = #formal > 0 and table.concat(formal, ", ") or "void",
    call = ("%s(%s);"):format(name, table.concat(actual, ", ")), lines = lines, last_op = last_op }
end

local function phases_of(state, program, segment, place, profile)
  local functions, parts, last_ops = {}, {}, {}
  local number, section_before = 0, nil
  for index, phase in ipairs(segment.phases) do
    number = phase.section == section_before and number + 1 or 1
    section_before = phase.section
    for worker, list in ipairs(phase.lists) do
      if #list > 0 then
        local fn = function_of(state, program,
          ("%s_%d_worker_%d"):format(section_function(phase.section.name), number, worker - 1),
          ("%s, phase %d, worker %d of %d"):format(phase.section.name, number, worker - 1, program.threads), list,
            place,
          profile)
        functions[#functions + 1] = fn
        parts[#parts + 1] = { number = (index - 1) * program.threads + worker - 1, call = fn.call }
        last_ops[index] = math.max(last_ops[index] or 0, fn.last_op)
      end
    end
  end
  return functions, parts, table.concat(last_ops, ", ")
end

-- The first sequence of group i, as C; the last group is moved back to end with the batch.
local function first_sequence(segment, batch)
  if segment.repeats == 1 then return "0" end
  local last = batch - segment.group
  return ("i * %d < %d ? i * %d : %d"):format(segment.group, last, segment.group, last)
end

--- A program's segments: { name, mode, repeats, group, first, functions, calls } and, of one in phases, the parts of
--- its workers (number = phase x workers + worker).
function emit_steps.segments(state, program, profile)
  local place = place_of(state, program)
  local list = {}
  for _, segment in ipairs(program.segments) do
    local of_segment = { name = segment.name, mode = segment.mode, repeats = segment.repeats, group = segment.group,
      first = first_sequence(segment, state.spec.batch), functions = {}, calls = {} }
    if segment.mode == "phases" then
      of_segment.functions, of_segment.parts, of_segment.last_ops = phases_of(state, program, segment, place, profile)
      of_segment.phase_count = #segment.phases
    else
      for i, section in ipairs(segment.sections) do
        local fn = function_of(state, program, section_function(section.name), section.name, section.steps, place,
          profile)
        of_segment.functions[i], of_segment.calls[i] = fn, fn.call
        of_segment.last_op = fn.last_op
      end
    end
    list[#list + 1] = of_segment
  end
  return list
end

return emit_steps
