-- operands.lua: what a step reads and writes, whatever its form; several passes ask.
local steps = require("steps")

local operands = {}

--- Calls visit(operand, access) for each operand of a step; access as in steps.lua.
function operands.each(step, visit)
  if step.form == "product" then
    visit(step.a, "r")
    visit(step.b, "r")
    visit(step.c, step.kernel.beta == 0 and "w" or "rw")
  elseif step.form == "map" then
    for _, argument in ipairs(step.arguments) do visit(argument[2], argument[3]) end
  elseif step.form == "row" then
    for _, argument in ipairs(steps.rows[step.fn].arguments) do
      local operand = step.arguments[argument[1]]
      if operand then visit(operand, argument[2]) end
    end
  end
end

return operands
