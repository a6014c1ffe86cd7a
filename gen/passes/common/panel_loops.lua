-- panel_loops.lua: panel loops: steps that are repeated for consecutive panels of a product.
-- The steps of a loop follow one another and share the table `panels` = { count, is_whole }. They are the steps of its
-- first panel. From one panel to the next an operand moves by its term `panel`, and its unit is the next one, unless
-- the loop is whole: then all panels are of one unit.
local panel_loops = {}

function panel_loops.count(step) return step.panels and step.panels.count or 1 end

--- Returns the number of the unit of a panel, which counts from 1.
function panel_loops.unit(step, panel)
  return step.unit + (step.panels and step.panels.is_whole and 0 or panel - 1)
end

--- Returns the bytes by which an operand moves from panel to panel.
function panel_loops.stride(operand) return operand.terms and operand.terms.panel or 0 end

-- Returns a table with the fields of another, except those in `fields`.
local function like(of, fields) return setmetatable(fields, { __index = of }) end

-- Returns an operand `number` panels later; is_single: it is of one panel.
local function moved(operand, number, is_single)
  local stride = panel_loops.stride(operand)
  if stride == 0 then return operand end
  local terms = {}
  for symbol, each in pairs(operand.terms) do terms[symbol] = each end
  if is_single then terms.panel = nil end
  return like(operand, { offset = operand.offset + number * stride, terms = terms })
end

--- Returns a step's operand in the first panel, as it is outside of a loop.
function panel_loops.first(operand) return moved(operand, 0, true) end

--- Returns part(step, first, count), which returns a step for some panels of its loop, from number `first` on. Parts of
--- one loop that have the same panels are one loop.
function panel_loops.parts()
  local made = {}
  return function(step, first, count)
    if count == panel_loops.count(step) then return step end
    local of, key = made[step.panels] or {}, ("%d %d"):format(first, count)
    made[step.panels], of[key] = of, of[key] or { count = count, is_whole = step.panels.is_whole }
    local arguments = {}
    for name, operand in pairs(step.arguments) do arguments[name] = moved(operand, first, count == 1) end
    local is_loop = count > 1 or step.choices ~= nil -- a loop over experts is around one panel, too
    return like(step, { arguments = arguments, unit = panel_loops.unit(step, first + 1),
      panels = is_loop and of[key] or false })
  end
end

return panel_loops
