-- cost.lua: what a step costs, in floating-point operations of a product that take as long:
-- enough to divide work evenly before anything runs; and how many bytes it moves. Both from steps.lua.
local operands = require("data.operands")
local steps = require("data.steps")

local cost = {}

--- The cost of a step; notes and loops cost nothing.
function cost.of(step)
  local entry = operands.entry(step)
  if not entry then return 0 end
  if step.form ~= "map" then return entry.cost(operands.known(step)) end
  local sum = 0
  for _, operation in ipairs(step.elementwise) do
    sum = sum + steps.elementwise[operation.kind].cost(operands.known(step, operation))
  end
  return sum
end

--- A function as cost.of, which works it out once for steps that are alike; for as long as nobody changes them.
function cost.meter()
  local tree = {}
  return function(step)
    local node = operands.alike(tree, step)
    if not node then return 0 end
    node.cost = node.cost or cost.of(step)
    return node.cost
  end
end

-- Bytes that a step, or a call of a tile, reads and writes.
local function moved(step)
  local n = 0
  operands.touched(step, function(_, access, _, bytes)
    if access ~= "value" then n = n + bytes * (access == "rw" and 2 or 1) end
  end)
  return n
end

--- Bytes that a step reads and writes: each element counts once, but the weights of a product as often as its calls
--- read them.
function cost.bytes(step)
  local n = 0
  for _, call in ipairs(step.calls or { step }) do
    n = n + moved { form = step.form, fn = step.fn, elementwise = step.elementwise, constants = step.constants,
      arguments = step.arguments, kernel = call.kernel, batch = call.batch }
  end
  return n
end

return cost
