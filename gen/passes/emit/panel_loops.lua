-- panel_loops.lua: writes the C function of a panel loop: a loop over a product's panels around the calls of one.
local c = require("common.c")
local calls = require("passes.common.calls")
local sentences = require("passes.emit.sentences")
local types = require("data.types")

local emit_panel_loops = {}

-- Returns an operand of the loop's current panel as C; offset and stride are in bytes.
local function expression(operand, parameter)
  local text = c.plus(parameter.name, types.elements(operand.offset, parameter.type))
  local stride = types.elements(operand.stride, parameter.type)
  if stride == 0 then return text end
  return text .. (stride == 1 and " + panel" or (" + panel * %d"):format(stride))
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
  for _, call in ipairs(each.calls) do
    local list = {}
    for i, operand in ipairs(call.operands) do list[i] = expression(operand, each.parameters[operand.parameter]) end
    lines[#lines + 1] = "    " .. calls.text(call.step, call.pair, list)
  end
  lines[#lines + 1] = "  }"
  return { name = each.name, formal = table.concat(formal, ", "), sentence = sentences.panel_loop(each), lines = lines }
end

return emit_panel_loops
