-- operands.lua: what a step reads and writes, whatever its form: one walk over its operands as
-- steps.lua declares them. Passes that schedule, lay out, check and emit steps ask here.
local footprint = require("data.footprint")
local steps = require("data.steps")

local operands = {}

--- The entry of steps.lua that declares a step; of a map, the tile's.
function operands.entry(step)
  return step.form == "row" and steps.rows[step.fn] or steps[step.form]
end

--- Calls visit(operand, access, declared, name, operation) for each operand of a step in the order of its call, then
--- absent(declared), if given, for each that is left out. access and declared as in steps.lua; operation: the
--- elementwise operation of a map that has it.
function operands.each(step, visit, absent)
  local entry = operands.entry(step)
  if not entry then return end
  for _, declared in ipairs(entry.operands) do
    local name, access = declared[1], declared[2]
    local operand = step.arguments[name]
    if step.form == "product" and name == "c" and step.kernel.beta ~= 0 then access = "rw" end
    if step.form == "map" and step.elementwise[1].kind == "load" then access = "w" end
    if operand then visit(operand, access, declared, name) elseif absent then absent(declared) end
  end
  for _, operation in ipairs(step.elementwise or {}) do
    for _, declared in ipairs(steps.elementwise[operation.kind].operands) do
      visit(step.arguments[operation.argument], declared[2], declared, operation.argument, operation)
    end
  end
end

--- A copy of a step with change(operand) for each operand; the step itself where none changes.
function operands.replace(step, change)
  local arguments, changed = {}, false
  for name, operand in pairs(step.arguments) do
    arguments[name] = operand and change(operand)
    changed = changed or arguments[name] ~= operand
  end
  if not changed then return step end
  local copy = {}
  for key, value in pairs(step) do copy[key] = value end
  copy.arguments = arguments
  return copy
end

-- A row operation's constants with the bounds of the integers that only a call knows.
local function with_integers(step, entry)
  local known
  for _, declared in ipairs(entry.operands) do
    local operand = step.arguments[declared[1]]
    if operand and operand.most then
      known = known or setmetatable({}, { __index = step.constants })
      known[declared[1]], known[declared[1] .. "_least"] = operand.most, operand.least
    end
  end
  return known or step.constants
end

--- The constants that footprints and costs of a step, or of an operation of a map, ask for. wanted: of a product whose
--- kernel makes more outputs than anyone reads, only those that are wanted.
function operands.known(step, operation, wanted)
  if step.form == "product" then
    local k, batch = step.kernel, step.batch
    return { m = wanted and step.outputs or k.m, n = k.n, k = k.k, lda = k.lda, ldb = k.ldb, ldc = k.ldc,
      count = batch.count, a_step = batch.a // 4, b_step = batch.b // 4 }
  elseif operation then
    return { rows = step.constants.rows, cols = step.constants.cols, ld = operation.ld, fn = operation.fn }
  end
  return with_integers(step, operands.entry(step))
end

local single = { first = 0 }

--- Calls visit(operand, access, dimensions, declared, known) for each operand of a step that lies in a buffer, with the
--- elements that it may touch from its first on (footprint.lua). wanted: as above. classes: a set of those that are
--- visited, nil: all.
function operands.touched(step, visit, wanted, classes)
  local known = operands.entry(step) and operands.known(step, nil, wanted)
  operands.each(step, function(operand, access, declared, _, operation)
    if not operand.buffer or classes and not classes[operand.class] then return end
    local constants = operation and operands.known(step, operation) or known
    visit(operand, access, declared[3] and declared[3](constants) or single, declared, constants)
  end)
end

--- The lowest and the highest element of its buffer that an operand of such dimensions touches in any iteration of the
--- loops over sequences, whose symbols are at most b and s.
function operands.reach(operand, dimensions, b, s)
  local low, high = footprint.reach(dimensions)
  local terms = operand.terms
  return low + operand.offset, high + operand.offset + (terms and (terms.b or 0) * b + (terms.s or 0) * s or 0)
end

--- How many elements of a buffer an operand touches.
function operands.count(declared, dimensions, known)
  return declared.touched and declared.touched(known) or footprint.elements(dimensions)
end

return operands
