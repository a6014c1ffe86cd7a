-- series: consecutive panels of a product as one call. Where panel after panel makes the same calls, and operands lie
-- equal distances apart, a function loops over the panels. What is called, with which addresses and in which order, does
-- not change: steps, checks and bound have every panel.
local calls = require("passes.kernels.calls")
local operands = require("data.operands")
local schedule = require("passes.schedule")

local series = {}

-- The operands of a call: { operand, access, type, name }.
local function operands_of(program, step)
  local list = {}
  calls.each_operand(step, program.joints[step], function(operand, access, type, name)
    list[#list + 1] = { operand = operand, access = access, type = type, name = name }
  end)
  return list
end

-- How many calls of lines, from `at` on, are of the panel that begins there: those before the next product of the same
-- weight. nil: none begins, or none of the same operation follows. A profile charges each operation with its calls, so
-- in what ships a panel has one.
local function calls_of_panel(program, lines, at)
  local first = lines[at]
  local a = first.form == "product" and first.arguments.a
  if not a or a.class ~= "weight" or first.region.kind == "attention" then return nil end
  for i = at + 1, #lines do
    local step = lines[i]
    if not schedule.is_call(step) or program.variant == "ship" and step.op ~= first.op then return nil end
    if step.form == "product" and step.arguments.a.buffer == a.buffer then return i - at end
  end
end

-- Whether a call is that of the panel `number` behind that of `first`: the same, `number` strides further. first:
-- { step, operands }; each operand's stride is found in the first panel behind it.
local function continues(program, first, step, number)
  local pair = program.joints[step]
  if not schedule.is_call(step) or calls.callee(step, pair) ~= calls.callee(first.step, first.pair) then return false end
  for i, each in ipairs(operands_of(program, step)) do
    local begin = first.operands[i]
    if each.access == "value" or not operands.same_buffer(each.operand, begin.operand) then return false end
    local distance = each.operand.offset - begin.operand.offset
    if number == 1 then begin.stride = distance end
    if distance < 0 or distance ~= number * begin.stride then return false end
  end
  return true
end

-- What calls take of their caller: one pointer for all operands in a buffer, of a type; each operand gets the number of
-- its parameter and its offset from there, in bytes.
local function parameters_of(first)
  local list, names = {}, {}
  for _, call in ipairs(first) do
    for _, each in ipairs(call.operands) do
      local parameter
      for i, known in ipairs(list) do
        if known.type == each.type and operands.same_buffer(known.operand, each.operand) then parameter = i end
      end
      if not parameter then
        names[each.name] = (names[each.name] or 0) + 1
        parameter = #list + 1
        list[parameter] = { name = each.name .. (names[each.name] > 1 and names[each.name] or ""), type = each.type,
          operand = each.operand, is_written = false }
      end
      local of = list[parameter]
      each.parameter = parameter
      of.is_written = of.is_written or each.access ~= "r"
      if each.operand.offset < of.operand.offset then of.operand = each.operand end
    end
  end
  for _, call in ipairs(first) do
    for _, each in ipairs(call.operands) do each.offset = each.operand.offset - list[each.parameter].operand.offset end
  end
  return list
end

-- The series that begins at lines[at], or nil.
local function series_at(program, lines, at)
  local length = calls_of_panel(program, lines, at)
  if not length then return nil end
  local first, count = {}, 1
  for i = 1, length do
    local step = lines[at + i - 1]
    first[i] = { step = step, pair = program.joints[step], operands = operands_of(program, step) }
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
  for _, call in ipairs(first) do takes_kernels = takes_kernels or calls.takes_kernels(call.step) end
  return { count = count, calls = first, parameters = parameters_of(first), takes_kernels = takes_kernels,
    steps = table.move(lines, at, at + count * length - 1, 1, {}) }
end

--- The series of a list of steps, in order: { count: of panels; calls: of a panel, { step, pair, operands =
--- { parameter, offset, stride, .. } }, offset of the first panel's and stride from panel to panel in bytes; parameters:
--- { name, type, operand: of the first panel, is_written }; takes_kernels: whether it calls kernels of libxsmm; steps:
--- of all panels }.
function series.of(program, list)
  local lines, found, at = {}, {}, 1
  for _, step in ipairs(list) do
    if not program.joined[step] then lines[#lines + 1] = step end
  end
  while at <= #lines do
    local each = series_at(program, lines, at)
    found[#found + 1] = each
    at = at + (each and #each.steps or 1)
  end
  return found
end

--- What tells the function of a series from another.
function series.key(each)
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

return series
