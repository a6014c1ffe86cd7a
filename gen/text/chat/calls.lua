-- calls.lua: compiles calls, filters and tests of chat templates.
-- Arguments get the order of the parameters in numbers.lua; those that are not given are `missing`. So the runtime
-- knows their number.
local numbers = require("text.chat.numbers")
local words = require("common.words")

local calls = {}

local MISSING = 3 -- the constant `missing`, as in numbers.lua

-- Filters and tests that the compiler puts in the place of others, and that are not called by their names.
local internal = words.set { "map_attribute", "truth" }

-- Returns the row of a name, or nil after a refusal.
local function row_of(c, what, name, list)
  if list[name] and not internal[name] then return list[name] end
  local names = words.filter(words.sorted_keys(list), function(each) return not internal[each] end)
  return c:refuse(what, "; supported: " .. table.concat(names, ", "))
end

-- Compiles arguments in the order of parameters. what: the name in messages.
local function add_arguments(c, what, parameters, list, named)
  if named.refused then return c:refuse(named.refused) end
  if #list > #parameters then
    return c:refuse(("%s takes %d arguments, but has %d"):format(what, #parameters, #list))
  end
  local given = { table.unpack(list) }
  for _, each in ipairs(named) do
    local index
    for i, parameter in ipairs(parameters) do if parameter.name == each.name then index = i end end
    if not index then return c:refuse(("%s has no parameter %q"):format(what, each.name)) end
    if given[index] then return c:refuse(("%s: %q is given twice"):format(what, each.name)) end
    given[index] = each.value
  end
  for i, parameter in ipairs(parameters) do
    if given[i] then
      c:expression(given[i])
    elseif parameter.is_required then
      c:refuse(("%s needs an argument %q"):format(what, parameter.name))
    else
      c:add("constant", MISSING)
    end
  end
end

-- Return the row of a test and of a filter, or nil after a refusal.
local function test_of(c, name)
  return row_of(c, ("the test %q is not supported"):format(name), numbers.test_names[name] or name, numbers.test)
end

local function filter_of(c, name)
  return row_of(c, ("the filter %q is not supported"):format(name), numbers.filter_names[name] or name, numbers.filter)
end

-- Returns what find(c, name) returns for the text of a node, which must be one; or nil after a refusal.
local function constant_of(c, what, e, find)
  if e.kind == "string" then return find(c, e.value) end
  return c:refuse(what .. ": its name must be a text, so that it is known when the template is compiled")
end

local function rest(list, from) return table.move(list, from, #list, 1, {}) end

local special = {}

function special.map(c, e)
  if #e.list == 0 then
    local row = numbers.filter.map_attribute
    add_arguments(c, "map", row.parameters, {}, e.named)
    c:add("filter", row.number)
    return
  end
  local inner = constant_of(c, "the filter of map", e.list[1], filter_of)
  if not inner then return end
  if special[inner.name] then return c:refuse(("map with the filter %q is not supported"):format(inner.name)) end
  add_arguments(c, inner.name, inner.parameters, rest(e.list, 2), e.named)
  c:add("filter", numbers.filter.map.number, inner.number)
end

-- Compiles select and its like. first: the index of the test's name among the arguments.
local function selecting(first)
  return function(c, e)
    local test = numbers.test.truth
    if first == 2 then
      if not e.list[1] then return c:refuse(e.name .. " needs the name of an attribute") end
      c:expression(e.list[1])
    end
    if e.list[first] then test = constant_of(c, "the test of " .. e.name, e.list[first], test_of) end
    if not test then return end
    add_arguments(c, test.name, test.parameters, rest(e.list, first + 1), e.named)
    c:add("filter", numbers.filter[e.name].number, test.number)
  end
end

special.select, special.reject = selecting(1), selecting(1)
special.selectattr, special.rejectattr = selecting(2), selecting(2)

-- A format of values is the operator % with a tuple.
function special.format(c, e)
  if next(e.named) then return c:refuse("the filter \"format\" takes no arguments by name") end
  c:all(e.list)
  c:add("tuple", #e.list)
  c:add("remainder")
end

--- Compiles a filter of the value on the stack.
function calls.apply_filter(c, e)
  if special[e.name] then return special[e.name](c, e) end
  local row = filter_of(c, e.name)
  if not row then return end
  add_arguments(c, ("the filter %q"):format(e.name), row.parameters, e.list, e.named)
  c:add("filter", row.number)
end

function calls.filter(c, e)
  c:expression(e.object)
  calls.apply_filter(c, e)
end

function calls.test(c, e)
  c:expression(e.object)
  local row = test_of(c, e.name)
  if not row then return end
  add_arguments(c, ("the test %q"):format(e.name), row.parameters, e.list, e.named)
  c:add("test", row.number)
end

-- Methods that change lists and dictionaries, which transformers' sandbox forbids.
local changing = words.set { "append", "extend", "insert", "remove", "sort", "reverse", "clear", "pop", "popitem",
  "setdefault", "update" }

local function method(c, e)
  local name = e.callee.name
  c:expression(e.callee.object)
  local row = row_of(c, ("the method %q is %s"):format(name, changing[name]
    and "not allowed in templates, which may not change values" or "not supported"), name, numbers.method)
  if not row then return end
  local list = e.list
  if name == "cycle" then list = { { kind = "tuple", line = e.line, items = list } } end
  add_arguments(c, ("the method %q"):format(name), row.parameters, list, e.named)
  c:add("method", row.number)
end

-- Refuses the conversions of a constant format that are not supported. The runtime refuses them in chats.
local function check_dates(c, format)
  for letter in format:gsub("%%%%", ""):gmatch("%%%-?(.?)") do
    if not numbers.dates:find(letter, 1, true) or letter == "" then
      c:note(("strftime_now: the conversion %%%s of its format is not supported"):format(letter))
    end
  end
end

function calls.call(c, e)
  if e.callee.kind == "attribute" then return method(c, e) end
  if e.named.refused then return c:refuse(e.named.refused) end
  local format = e.callee.name == "strftime_now" and (e.list[1] or (e.named[1] or {}).value)
  if format and format.kind == "string" then check_dates(c, format.value) end
  c:expression(e.callee)
  c:all(e.list)
  for _, each in ipairs(e.named) do
    c:add("word", c:word(each.name))
    c:expression(each.value)
  end
  c:add("call", #e.list, #e.named)
end

return calls
