-- panel_loops.lua: finds the parameters of the function of each panel loop.
local calls = require("passes.common.calls")
local common = require("passes.common.panel_loops")
local operands = require("data.operands")

local panel_loops = {}

-- Returns the operands of a call: { operand, access, type, name }.
local function operands_of(program, step)
  local list = {}
  calls.each_operand(step, program.fused_kernels[step], function(operand, access, type, name)
    list[#list + 1] = { operand = common.first(operand), stride = common.stride(operand), access = access, type = type,
      name = name }
  end)
  return list
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

--- Returns the panel loops of a list of steps, in order. Each is { count: of panels; calls: of a panel, { step, pair,
--- operands = { parameter, offset, stride, .. } }, in bytes from the parameter and from panel to panel; parameters = {
--- name, type, operand: the lowest of the first panel, is_written }; takes_kernels: whether it calls kernels of
--- libxsmm; steps: its calls' }.
function panel_loops.of(program, list)
  local found, panels = {}, nil
  for _, step in ipairs(list) do
    if step.panels and step.panels ~= panels then
      found[#found + 1] = { count = step.panels.count, calls = {}, steps = {}, takes_kernels = false }
    end
    panels = step.panels
    if panels and not program.fused_maps[step] then
      local each, pair = found[#found], program.fused_kernels[step]
      table.insert(each.calls, { step = step, pair = pair, operands = operands_of(program, step) })
      table.insert(each.steps, step)
      each.kernel = each.kernel or step.kernel -- of the first product
      each.takes_kernels = each.takes_kernels or calls.takes_kernels(step, pair)
    end
  end
  for _, each in ipairs(found) do each.parameters = parameters_of(each.calls) end
  return found
end

--- Returns a key that distinguishes the functions of panel loops.
function panel_loops.key(each)
  local parts = { ("%d panels"):format(each.count) }
  for _, call in ipairs(each.calls) do
    parts[#parts + 1] = calls.callee(call.step, call.pair)
    local kernel = call.step.kernel
    if kernel and kernel.experts then parts[#parts + 1] = ("%d experts by %d"):format(kernel.experts, kernel.piece) end
    for _, operand in ipairs(call.operands) do
      local of_experts = operand.operand.by_expert or operand.operand.by_choice
      parts[#parts + 1] = ("%d %d %d%s"):format(operand.parameter, operand.offset, operand.stride,
        of_experts and " " .. of_experts or "")
    end
  end
  for _, parameter in ipairs(each.parameters) do parts[#parts + 1] = parameter.type end
  return table.concat(parts, ", ")
end

return panel_loops
