-- calls.lua: finds the function that a step calls, with its operands, and writes the call in C.
-- A fused product calls the function that it shares with the map after it.
local operands = require("data.operands")
local programs = require("passes.common.programs")
local steps = require("data.steps")

local calls = {}

--- Calls visit(operand, access, type, name) for each operand of a call, in its order. The call is a step's or, with a
--- `pair` of schedule/fused_kernels.lua, that of a product and its map, where sums on the stack are no operands.
function calls.each_operand(step, pair, visit)
  local of, number, left_out = step, 0, pair and 3 -- C; then of the map what it loads, the operand after y
  local function each(operand, access, declared, name)
    number = number + 1
    if number ~= left_out then visit(operand, access, operands.type(of, declared), name) end
  end
  operands.each(step, each)
  if not pair then return end
  of, number, left_out = pair.map, 0, pair.is_local and 2
  operands.each(pair.map, each)
end

--- Pointers of emitted functions by the class of an operand's place: the packed weights, the arena, a worker's part of
--- it, the caller's state.
calls.pointers = { weight = "w", arena = "a", private = "p", state = "kept" }

--- Returns the class of an operand's place, one of those above; nil if it is in the caller's memory or an integer.
function calls.class(program, operand)
  if not operand.buffer or operand.class == "in" or operand.class == "out" then return nil end
  return operand.class == "arena" and program.own[operand.buffer] and "private" or operand.class
end

--- True if a step has a call of its own. The map of a fused kernel has none, nor has a later step of a panel loop.
function calls.is_shown(program, step)
  return programs.is_call(step) and not program.fused_maps[step] and not program.in_panel_loop[step]
end

--- Returns the function of a step that has a call: its own, or that of its panel loop.
function calls.name(program, step)
  local loop = program.panel_loops[step]
  return loop and loop.name or calls.callee(step, program.fused_kernels[step])
end

--- Calls visit(operand, access, type) for each operand of a step's call: its own, or its panel loop's.
function calls.each_shown(program, step, visit)
  local loop = program.panel_loops[step]
  if not loop then return calls.each_operand(step, program.fused_kernels[step], visit) end
  for _, parameter in ipairs(loop.parameters) do visit(parameter.operand, "r", parameter.type) end
end

--- Returns the function that a step calls. Two steps have the same one if they differ only in their operands.
function calls.callee(step, pair) return pair and pair.name or step.function_name end

--- True if a call takes the table of libxsmm's kernels.
function calls.takes_kernels(step, pair) return (pair or step).takes_kernels or false end

--- True if a call takes the ranks that compute the model together.
function calls.takes_ranks(step) return step.form == "row" and steps.rows[step.fn].meets or false end

--- Returns the distinct symbols of the open sizes of a list of calls { step }, in the order of their first use.
function calls.symbols(list)
  local symbols, is_known = {}, {}
  for _, call in ipairs(list) do
    if call.step.choices then goto continue end -- the loop over experts has the number of rows
    operands.each_open(call.step, function(name)
      local symbol = call.step.sizes[name]
      if not is_known[symbol] then symbols[#symbols + 1] = symbol end
      is_known[symbol] = true
    end)
    ::continue::
  end
  return symbols
end

--- Returns a call as C; list: its operands as C. Open sizes follow them.
function calls.text(step, pair, list)
  operands.each_open(step, function(name) list[#list + 1] = step.sizes[name] end)
  local kernels = calls.takes_kernels(step, pair) and "k, " or calls.takes_ranks(step) and "ranks, " or ""
  return ("%s(%s%s);"):format(calls.callee(step, pair), kernels, table.concat(list, ", "))
end

return calls
