-- cost.lua: estimates the cost of a step, and counts the bytes that it moves, both from steps.lua.
-- The unit is the time of one floating-point operation of a product. The estimate is precise enough to divide work
-- evenly before anything runs.
local operands = require("data.operands")
local steps = require("data.steps")

local cost = {}

--- Returns the cost of a step, for one panel; notes and loops cost nothing.
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

--- Returns a function like cost.of that computes the cost of equal steps once; it is valid while nobody changes them.
function cost.meter()
  local tree = {}
  return function(step)
    local node = operands.alike(tree, step)
    if not node then return 0 end
    node.cost = node.cost or cost.of(step)
    return node.cost
  end
end

--- Returns the bytes that a step reads and writes. Each element counts once.
function cost.bytes(step)
  local n = 0
  operands.touched(step, function(_, access, _, bytes)
    if access ~= "value" then n = n + bytes * (access == "rw" and 2 or 1) end
  end)
  return n
end

return cost
