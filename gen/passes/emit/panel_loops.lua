-- panel_loops.lua: writes the C function of a panel loop: a loop over a product's panels around the calls of one.
local c = require("common.c")
local calls = require("passes.common.calls")
local sentences = require("passes.emit.sentences")
local types = require("data.types")
local words = require("common.words")

local emit_panel_loops = {}

-- Returns an operand of the loop's current panel as C; offset and stride are in bytes.
local function expression(operand, parameter)
  local text = c.plus(parameter.name, types.elements(operand.offset, parameter.type))
  local stride = types.elements(operand.stride, parameter.type)
  if stride == 0 then return text end
  return text .. (stride == 1 and " + panel" or (" + panel * %d"):format(stride))
end

-- Returns an operand as C: that of the current expert, the first of whose choices to be taken is number `at`.
local function of_expert(text, operand)
  local by_expert, by_choice = operand.operand.by_expert, operand.operand.by_choice
  local stride = by_expert or by_choice
  if not stride then return text end
  return ("%s + %s * %d"):format(text, by_expert and "expert" or "at", types.elements(stride, operand.type))
end

-- Returns lines that are repeated for each expert with choices, and for each equal piece of these.
local function each_expert(lines, kernel, each)
  local first
  for _, operand in ipairs(each.calls[1].operands) do
    if operand.name == "first" then first = c.plus(each.parameters[operand.parameter].name,
      types.elements(operand.offset, "i32")) end
  end
  local result = { ("  for (size_t expert = 0; expert < %d; expert++) {"):format(kernel.experts),
    ("    const size_t end = (size_t)(%s)[expert + 1];"):format(first),
    ("    size_t at = (size_t)(%s)[expert];"):format(first),
    ("    size_t pieces = (end - at + %d) / %d;"):format(kernel.piece - 1, kernel.piece),
    "    for (size_t n; pieces > 0; pieces--, at += n) {",
    "      n = (end - at) / pieces;" }
  for _, line in ipairs(lines) do result[#result + 1] = "    " .. line end
  words.append(result, { "    }", "  }" })
  return result
end

--- Returns a panel loop (of kernels/panel_loops.lua) as a function for ops.c.in.
function emit_panel_loops.values(each)
  local formal = { each.takes_kernels and "const attn2c_kernel *k" or nil }
  for _, parameter in ipairs(each.parameters) do
    formal[#formal + 1] = ("%s%s *%s"):format(parameter.is_written and "" or "const ", types.c(parameter.type),
      parameter.name)
  end
  for _, symbol in ipairs(calls.symbols(each.calls)) do formal[#formal + 1] = "ptrdiff_t " .. symbol end
  local lines = { ("  for (size_t panel = 0; panel < %d; panel++) {"):format(each.count) }
  local kernel = each.kernel
  for _, call in ipairs(each.calls) do
    local list = {}
    for _, operand in ipairs(call.operands) do
      local text = expression(operand, each.parameters[operand.parameter])
      if operand.name ~= "first" then list[#list + 1] = kernel.experts and of_expert(text, operand) or text end
    end
    lines[#lines + 1] = "    " .. calls.text(call.step, call.pair, list)
  end
  lines[#lines + 1] = "  }"
  if kernel.experts then lines = each_expert(lines, kernel, each) end
  return { name = each.name, formal = table.concat(formal, ", "), sentence = sentences.panel_loop(each), lines = lines }
end

return emit_panel_loops
