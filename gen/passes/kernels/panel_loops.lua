-- panel_loops.lua: finds panel loops: consecutive panels of a product that become one call.
-- If panels make the same calls, with operands at equal distances, a function loops over them. That only shortens the
-- text: the calls, their addresses and their order do not change, and steps, checks and bound have every panel.
local calls = require("passes.common.calls")
local operands = require("data.operands")
local programs = require("passes.common.programs")

local panel_loops = {}

-- Returns the operands of a call: { operand, access, type, name }.
local function operands_of(program, step)
  local list = {}
  calls.each_operand(step, program.fused_kernels[step], function(operand, access, type, name)
    list[#list + 1] = { operand = operand, access = access, type = type, name = name }
  end)
  return list
end

-- Returns the number of calls of lines, from `at` on, that belong to the panel that begins there: those before the
-- next product of the same weight. nil: no panel begins there, or none of the same operation follows. In shipped code
-- a panel has calls of one operation, as a profile charges each operation with its calls.
local function calls_of_panel(program, lines, at)
  local first = lines[at]
  local a = first.form == "product" and first.arguments.a
  if not a or a.class ~= "weight" or first.region.kind == "attention" then return nil end
  for i = at + 1, #lines do
    local step = lines[i]
    if not programs.is_call(step) or program.variant == "ship" and step.op ~= first.op then return nil end
    if step.form == "product" and step.arguments.a.buffer == a.buffer then return i - at end
  end
end

-- True if a step repeats a call of the first panel, { step, pair, operands }, `number` panels later: each operand is
-- `number` strides further. The strides are those from panel 0 to panel 1.
local function continues(program, first, step, number)
  if not programs.is_call(step)
    or calls.callee(step, program.fused_kernels[step]) ~= calls.callee(first.step, first.pair) then
    return false
  end
  for i, each in ipairs(operands_of(program, step)) do
    local begin = first.operands[i]
    if each.access == "value" or not operands.same_buffer(each.operand, begin.operand) then return false end
    local distance = each.operand.offset - begin.operand.offset
    if number == 1 then begin.stride = distance end
    if distance < 0 or distance ~= number * begin.stride then return false end
  end
  return true
end

-- Returns a name that no parameter has: the operand's, with a number if several have it.
local function name_of(operand, list)
  local name, number = operand.name, 1
  local function is_taken()
    for _, parameter in ipairs(list) do if parameter.name == name then return true end end
    return false
  end
  while is_taken() do
    number = number + 1
    name = operand.name .. number
  end
  return name
end

-- Returns the number of the parameter by which an operand is reached; adds one if there is none.
local function parameter_of(operand, list)
  for i, parameter in ipairs(list) do
    if parameter.type == operand.type and operands.same_buffer(parameter.operand, operand.operand) then return i end
  end
  table.insert(list, { name = name_of(operand, list), type = operand.type, operand = operand.operand,
    is_written = false })
  return #list
end

-- Returns the parameters of a panel loop: one pointer for all operands of a type in a buffer, to the lowest of them.
-- Each operand gets the number of its parameter and its offset from there, in bytes.
local function parameters_of(first)
  local list = {}
  for _, call in ipairs(first) do
    for _, operand in ipairs(call.operands) do
      operand.parameter = parameter_of(operand, list)
      local of = list[operand.parameter]
      of.is_written = of.is_written or operand.access ~= "r"
      if operand.operand.offset < of.operand.offset then of.operand = operand.operand end
    end
  end
  for _, call in ipairs(first) do
    for _, operand in ipairs(call.operands) do
      operand.offset = operand.operand.offset - list[operand.parameter].operand.offset
    end
  end
  return list
end

-- Returns the panel loop that begins at lines[at], or nil.
local function loop_at(program, lines, at)
  local length = calls_of_panel(program, lines, at)
  if not length then return nil end
  local first, count = {}, 1
  for i = 1, length do
    local step = lines[at + i - 1]
    first[i] = { step = step, pair = program.fused_kernels[step], operands = operands_of(program, step) }
  end
  local function is_panel(number)
    for i, call in ipairs(first) do
      local step = lines[at + number * length + i - 1]
      if not step or not continues(program, call, step, number) then return false end
    end
    return true
  end
  while is_panel(count) and first[1].operands[1].stride > 0 do count = count + 1 end
  if count == 1 then return nil end
  local takes_kernels = false
  for _, call in ipairs(first) do takes_kernels = takes_kernels or calls.takes_kernels(call.step, call.pair) end
  return { count = count, calls = first, parameters = parameters_of(first), takes_kernels = takes_kernels,
    steps = table.move(lines, at, at + count * length - 1, 1, {}) }
end

--- Returns the panel loops of a list of steps, in order. Each is { count: of panels; calls: of the first panel, {
--- step, pair, operands = { parameter, offset, stride, .. } }, in bytes from the parameter and from panel to panel;
--- parameters = { name, type, operand: the lowest of the first panel, is_written }; takes_kernels: whether it calls
--- kernels of libxsmm; steps: of all panels }.
function panel_loops.of(program, list)
  local lines, found, at = {}, {}, 1
  for _, step in ipairs(list) do
    if not program.fused_maps[step] then lines[#lines + 1] = step end
  end
  while at <= #lines do
    local each = loop_at(program, lines, at)
    found[#found + 1] = each
    at = at + (each and #each.steps or 1)
  end
  return found
end

--- Returns a key that distinguishes the functions of panel loops.
function panel_loops.key(each)
  local parts = { ("%d panels"):format(each.count) }
  for _, call in ipairs(each.calls) do
    parts[#parts + 1] = calls.callee(call.step, call.pair)
    for _, operand in ipairs(call.operands) do
      parts[#parts + 1] = ("%d %d %d"):format(operand.parameter, operand.offset, operand.stride)
    end
  end
  for _, parameter in ipairs(each.parameters) do parts[#parts + 1] = parameter.type end
  return table.concat(parts, ", ")
end

return panel_loops
