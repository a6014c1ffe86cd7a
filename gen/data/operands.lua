-- operands.lua: walks over the operands of a step, whatever its form, as steps.lua declares them.
-- The passes that schedule, place, check and emit steps use it.
local footprint = require("data.footprint")
local steps = require("data.steps")
local types = require("data.types")

local operands = {}

--- The sizes of a step that may be open, in the order of its function's parameters: a product's sizes, then
--- constants. A kernel or the constants of other steps have the names of the open ones in `open`, separated by blanks;
--- `sizes` of the step has their symbols.
operands.open_names = { "n", "m", "k", "rows", "cols", "lo", "hi", "all" }

--- Returns the names of sizes, a table by name, as the text of `open`; nil if there are none.
function operands.open_text(sizes)
  local names = {}
  for _, name in ipairs(operands.open_names) do if sizes[name] then names[#names + 1] = name end end
  return #names > 0 and table.concat(names, " ") or nil
end

function operands.each_open(step, visit)
  local open = step.kernel and step.kernel.open or step.constants and step.constants.open
  for name in (open or ""):gmatch("%S+") do visit(name) end
end

--- Returns a step's constants (or a kernel) with the name of each open one in the place of its value.
function operands.named(constants)
  if not constants.open then return constants end
  local named = {}
  for name in constants.open:gmatch("%S+") do named[name] = name end
  return setmetatable(named, { __index = constants })
end

--- Returns the entry of steps.lua that declares a step; for a map, the tile's.
function operands.entry(step) return step.form == "row" and steps.rows[step.fn] or steps[step.form] end

--- Calls visit(operand, access, declared, name, operation) for each operand of a step, in the order of its call.
--- absent(declared), if given, is then called for each operand that is left out. access, declared: as in steps.lua;
--- operation: the elementwise operation of a map that has the operand.
function operands.each(step, visit, absent)
  local entry, arguments, elementwise = operands.entry(step), step.arguments, step.elementwise
  if not entry then return end
  local list = entry.operands
  for i = 1, #list do
    local declared = list[i]
    local name, access = declared[1], declared[2]
    local operand = arguments[name]
    if name == "c" and step.form == "product" and step.kernel.beta ~= 0 then access = "rw" end
    if elementwise and steps.elementwise[elementwise[1].kind].loads then access = "w" end
    if operand then visit(operand, access, declared, name) elseif absent then absent(declared) end
  end
  for i = 1, elementwise and #elementwise or 0 do
    local operation = elementwise[i]
    local declared = steps.elementwise[operation.kind].operands[1]
    if declared then visit(arguments[operation.argument], declared[2], declared, operation.argument, operation) end
  end
end

-- Returns a row operation's constants with the bounds of the integers that only a call knows.
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

--- Returns the constants that footprints and costs of a step, or of an operation of a map, read. wanted: true counts
--- only the outputs that are read, for a product whose kernel makes more.
function operands.known(step, operation, wanted)
  if step.form == "product" then
    local k = step.kernel
    return { m = wanted and step.outputs or k.m, n = k.n, k = k.k, inputs = types.whole(k.k, k.types.b),
      panel = types.panel(k.k, k.lda, k.types.a), lda = k.lda, ldb = k.ldb, ldc = k.ldc,
      experts = k.experts, apart = k.apart and types.elements(k.apart, k.types.a) }
  elseif operation then
    return { rows = step.constants.rows, cols = step.constants.cols, ld = operation.ld, fn = operation.fn }
  end
  return with_integers(step, operands.entry(step))
end

function operands.type(step, declared)
  if step.form == "map" and declared[1] == "y" then return step.constants.type or "f32" end
  return declared.type or step.form == "product" and step.kernel.types[declared[1]] or "f32"
end

local single = { first = 0 }

-- Returns the operands of a step in the form that a walk visits.
local function touches_of(step, wanted)
  local list, known = {}, operands.known(step, nil, wanted)
  operands.each(step, function(_, access, declared, name, operation)
    local constants = operation and operands.known(step, operation) or known
    local size = types.bytes(1, operands.type(step, declared))
    local dimensions = footprint.in_bytes(declared[3] and declared[3](constants) or single, size)
    list[#list + 1] = { name = name, access = access, dimensions = dimensions,
      bytes = declared.touched and size * declared.touched(constants) or footprint.elements(dimensions) }
  end)
  return list
end

local function below(node, key)
  local value = node[key]
  if not value then
    value = {}
    node[key] = value
  end
  return value
end

-- Returns what an operand touches in all panels of a panel loop, `stride` bytes apart.
local function of_all_panels(touch, count, stride)
  local loops = below(touch, "loops")
  local of_count = below(loops, count)
  of_count[stride] = of_count[stride] or { access = touch.access, bytes = touch.bytes * count,
    dimensions = footprint.repeated(touch.dimensions, count, stride) }
  return of_count[stride]
end

-- Functions (tree, step) by form: each returns a step's node in a tree, which keeps values computed for steps.
local node_of = {}

function node_of.product(node, step) return below(below(node, step.kernel), step.outputs or 0) end

function node_of.map(node, step) return below(below(node, step.elementwise), step.constants) end

function node_of.row(node, step)
  node = below(below(node, step.fn), step.constants)
  for _, declared in ipairs(steps.rows[step.fn].operands) do
    local operand = step.arguments[declared[1]]
    node = below(node, operand and (operand.most or "no integer") or "absent")
    if operand and operand.most then node = below(node, operand.least) end
  end
  return node
end

--- Returns the node of a tree that all steps like this one share, or nil if the step is no call. Such steps share
--- their constants; row operations also have the same operands and bounds of integers. They have the same cost and
--- name, and touch the same elements, counted from each operand's first.
function operands.alike(tree, step)
  local find = node_of[step.form]
  return find and find(tree, step)
end

--- Returns an operand `bytes` after another in the same buffer. terms: its own, if they are not the other's.
function operands.moved(operand, bytes, terms)
  return { buffer = operand.buffer, class = operand.class, offset = operand.offset + bytes,
    terms = terms or operand.terms }
end

local NONE = {}

--- True if two operands move alike with all loops.
function operands.move_alike(x, y)
  local of_x, of_y = x.terms or NONE, y.terms or NONE
  if of_x == of_y then return true end
  for symbol, stride in pairs(of_x) do if stride ~= (of_y[symbol] or 0) then return false end end
  for symbol, stride in pairs(of_y) do if stride ~= (of_x[symbol] or 0) then return false end end
  return true
end

--- True if two operands are in the same buffer and move alike with all loops.
function operands.same_buffer(x, y) return x.class == y.class and x.buffer == y.buffer and operands.move_alike(x, y) end

--- Returns walk(step, visit, classes), which calls visit(operand, access, dimensions, bytes) for each operand in a
--- buffer. dimensions: the bytes that the operand may touch, from its first on (footprint.lua); bytes: how many it
--- does touch. Both are computed once for steps that share their constants, so a walk is valid while nobody changes
--- those. wanted: as above. classes: a set of the classes that are visited; nil: all.
function operands.walk(wanted)
  local tree = {}
  return function(step, visit, classes)
    local node, arguments, panels = operands.alike(tree, step), step.arguments, step.panels
    if not node then return end
    local touches = node.touches
    if not touches then
      touches = touches_of(step, wanted)
      node.touches = touches
    end
    for i = 1, #touches do
      local touch = touches[i]
      local operand = arguments[touch.name]
      if operand.buffer and (not classes or classes[operand.class]) then
        if panels then touch = of_all_panels(touch, panels.count, operand.terms and operand.terms.panel or 0) end
        visit(operand, touch.access, touch.dimensions, touch.bytes)
      end
    end
  end
end

--- Walks over one step.
function operands.touched(step, visit) operands.walk()(step, visit) end

--- Returns the lowest and the highest byte that an operand touches in any iteration of the loops over sequences. The
--- loops' symbols are at most b and s.
function operands.reach(operand, dimensions, b, s)
  local low, high = footprint.reach(dimensions)
  local terms = operand.terms
  return low + operand.offset, high + operand.offset + (terms and (terms.b or 0) * b + (terms.s or 0) * s or 0)
end

return operands
