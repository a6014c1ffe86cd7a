-- calls.lua: compiles calls, filters and tests of chat templates.
-- Arguments get the order of the parameters in numbers.lua; those that are not given are `missing`. So the runtime
-- knows their number.
local numbers = require("text.chat.numbers")
local words = require("common.words")

local calls = {}

local MISSING = 3 -- the constant `missing`, as in numbers.lua

-- Filters and tests that the compiler puts in the place of others, and that are not called by their names.
local internal = words.set { "map_attribute", "truth" }

local function supported(list)
  local names = {}
  for _, name in ipairs(words.sorted_keys(list)) do if not internal[name] then names[#names + 1] = name end end
  return "supported: " .. table.concat(names, ", ")
end

-- Compiles arguments in the order of parameters. what: the name in messages.
local function add_arguments(c, what, parameters, list, named)
  if #list > #parameters then
    c.fail(c.line, ("%s takes %d arguments, but has %d"):format(what, #parameters, #list))
  end
  local given = {}
  for i, each in ipairs(list) do given[i] = each end
  for _, each in ipairs(named) do
    local index
    for i, parameter in ipairs(parameters) do if parameter.name == each.name then index = i end end
    if not index then c.fail(c.line, ("%s has no parameter %q"):format(what, each.name)) end
    if given[index] then c.fail(c.line, ("%s: %q is given twice"):format(what, each.name)) end
    given[index] = each.value
  end
  for i, parameter in ipairs(parameters) do
    if given[i] then
      c:expression(given[i])
    elseif parameter.is_required then
      c.fail(c.line, ("%s needs an argument %q"):format(what, parameter.name))
    else
      c:add("constant", MISSING)
    end
  end
end

-- Returns the record of a test. e: the node of its name, a text.
local function test_of(c, name)
  local found = numbers.test[numbers.test_names[name] or name]
  if not found or internal[name] then
    c.fail(c.line, ("the test %q is not supported; %s"):format(name, supported(numbers.test)))
  end
  return found
end

local function filter_of(c, name)
  local found = numbers.filter[numbers.filter_names[name] or name]
  if not found or internal[name] then
    c.fail(c.line, ("the filter %q is not supported; %s"):format(name, supported(numbers.filter)))
  end
  return found
end

-- Returns the text of a node that must be one.
local function constant_of(c, what, e)
  if not e or e.kind ~= "string" then
    c.fail((e or c).line, what .. ": its name must be a text, so that it is known when the template is compiled")
  end
  return e.value
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
  local inner = filter_of(c, constant_of(c, "the filter of map", e.list[1]))
  if special[inner.name] then c.fail(c.line, ("map with the filter %q is not supported"):format(inner.name)) end
  add_arguments(c, inner.name, inner.parameters, rest(e.list, 2), e.named)
  c:add("filter", numbers.filter.map.number, inner.number)
end

-- Compiles select and its like. first: the index of the test's name among the arguments.
local function selecting(first)
  return function(c, e)
    local test = numbers.test.truth
    if first == 2 then
      if not e.list[1] then c.fail(c.line, e.name .. " needs the name of an attribute") end
      c:expression(e.list[1])
    end
    if e.list[first] then test = test_of(c, constant_of(c, "the test of " .. e.name, e.list[first])) end
    add_arguments(c, test.name, test.parameters, rest(e.list, first + 1), e.named)
    c:add("filter", numbers.filter[e.name].number, test.number)
  end
end

special.select, special.reject = selecting(1), selecting(1)
special.selectattr, special.rejectattr = selecting(2), selecting(2)

--- Compiles a filter of the value on the stack.
function calls.apply_filter(c, e)
  if special[e.name] then return special[e.name](c, e) end
  local row = filter_of(c, e.name)
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
  add_arguments(c, ("the test %q"):format(e.name), row.parameters, e.list, e.named)
  c:add("test", row.number)
end

-- Methods that change lists and dictionaries, which transformers' sandbox forbids.
local changing = words.set { "append", "extend", "insert", "remove", "sort", "reverse", "clear", "pop", "popitem",
  "setdefault", "update" }

local function method(c, e)
  local name = e.callee.name
  local row = numbers.method[name]
  if not row then
    c.fail(e.line, ("the method %q is %s; %s"):format(name, changing[name]
      and "not allowed in templates, which may not change values" or "not supported", supported(numbers.method)))
  end
  c:expression(e.callee.object)
  local list = e.list
  if name == "cycle" then list = { { kind = "tuple", line = e.line, items = list } } end
  add_arguments(c, ("the method %q"):format(name), row.parameters, list, e.named)
  c:add("method", row.number)
end

function calls.call(c, e)
  if e.callee.kind == "attribute" then return method(c, e) end
  c:expression(e.callee)
  c:all(e.list)
  for _, each in ipairs(e.named) do
    c:add("word", c:word(each.name))
    c:expression(each.value)
  end
  c:add("call", #e.list, #e.named)
end

return calls
