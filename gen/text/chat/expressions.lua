-- expressions.lua: parses the expressions of a chat template into a tree, by Jinja's grammar.
-- A node is a table with kind and line. Its other fields are below, where it is made.
local Expressions = {}
Expressions.__index = Expressions

local DEEPEST = 100 -- expressions within each other

--- Returns a parser. tokens: the lexer's; fail(line, what): called for a fault, must not return.
function Expressions.new(tokens, fail)
  return setmetatable({ tokens = tokens, at = 1, depth = 0, stop = fail }, Expressions)
end

function Expressions:look(ahead) return self.tokens[self.at + (ahead or 0)] or self.tokens[#self.tokens] end

function Expressions:fail(what, token) return self.stop((token or self:look()).line, what) end

function Expressions:next()
  local token = self:look()
  if token.kind ~= "over" then self.at = self.at + 1 end
  return token
end

-- True if a token is an operator or a word.
local function is(token, kind, value) return token.kind == kind and (value == nil or token.value == value) end

function Expressions:is_operator(value, ahead) return is(self:look(ahead), "operator", value) end
function Expressions:is_word(value, ahead) return is(self:look(ahead), "name", value) end

--- Takes an operator or a word if it is next.
function Expressions:take(value)
  local token = self:look()
  if (token.kind == "operator" or token.kind == "name") and token.value == value then return self:next() end
  return nil
end

local function described(token)
  if token.kind == "over" then return "the end of the template" end
  if token.kind == "end" then return "the end of the tag" end
  return ("%q"):format(tostring(token.value or token.kind):sub(1, 40))
end

function Expressions:expect(value)
  return self:take(value) or self:fail(("%s; %q is expected"):format(described(self:look()), value))
end

function Expressions:expect_name()
  local token = self:next()
  if token.kind ~= "name" then self:fail(described(token) .. "; a name is expected", token) end
  return token.value
end

local LONGEST = 1000 -- operators, filters or indices in a row

-- Counts the parts of an expression, which are within each other in the tree.
function Expressions:count(number)
  if number > LONGEST then self:fail(("more than %d parts of an expression in a row"):format(LONGEST)) end
  return number + 1
end

local function node(kind, line, fields)
  fields.kind, fields.line = kind, line
  return fields
end

-- Returns an expression that is not supported: it is refused where it is reached.
local function refused(line, what) return node("refused", line, { what = what }) end

local constants = { ["true"] = true, ["True"] = true, ["false"] = false, ["False"] = false }

local LARGEST = 0x7fffffff

function Expressions:number(token)
  local plain = token.value:gsub("_", "")
  if token.kind == "float" then
    local real = tonumber(plain)
    if real == math.huge then return refused(token.line, "a number that is too large") end
    return node("float", token.line, { value = real })
  end
  if plain:find("^0%d") and plain:find("[1-9]") then self:fail("a number with a leading 0", token) end
  local value = plain:find("^0[xX]%x+$") and tonumber(plain)
  local digits, base = plain:match("^0[oO]([0-7]+)$"), 8
  if not digits then digits, base = plain:match("^0[bB]([01]+)$"), 2 end
  if digits and #digits < 60 then value = tonumber(digits, base) end
  value = value or plain:find("^%d+$") and #plain < 12 and math.tointeger(tonumber(plain))
  if not value or value < 0 or value > LARGEST then
    return refused(token.line, ("the number %s; up to %d is supported"):format(token.value:sub(1, 40), LARGEST))
  end
  return node("integer", token.line, { value = value })
end

--- Calls read() for each item up to a closing bracket. There are commas between items, and perhaps one after the last.
function Expressions:each_item(closing, read)
  local is_first = true
  while not self:take(closing) do
    if not is_first then
      self:expect(",")
      if self:take(closing) then return end
    end
    is_first = false
    read()
  end
end

-- Returns the items up to a closing bracket.
function Expressions:items(closing)
  local items = {}
  self:each_item(closing, function() items[#items + 1] = self:expression() end)
  return items
end

function Expressions:dict(line)
  local keys, values = {}, {}
  self:each_item("}", function()
    keys[#keys + 1] = self:expression()
    self:expect(":")
    values[#values + 1] = self:expression()
  end)
  return node("dict", line, { keys = keys, values = values })
end

function Expressions:primary()
  local token = self:next()
  local line, value = token.line, token.value
  if token.kind == "name" then
    if constants[value] ~= nil then return node("boolean", line, { value = constants[value] }) end
    if value == "none" or value == "None" then return node("none", line, {}) end
    return node("name", line, { name = value })
  end
  if token.kind == "string" then
    local parts = { value }
    while self:look().kind == "string" do parts[#parts + 1] = self:next().value end
    return node("string", line, { value = table.concat(parts) })
  end
  if token.kind == "integer" or token.kind == "float" then return self:number(token) end
  if is(token, "operator", "(") then
    local inner = self:tuple(true)
    self:expect(")")
    return inner
  end
  if is(token, "operator", "[") then return node("list", line, { items = self:items("]") }) end
  if is(token, "operator", "{") then return self:dict(line) end
  return self:fail(described(token) .. " is not expected", token)
end

-- Returns an index, or a slice.
function Expressions:subscript(object, line)
  local parts, count, several = {}, 1, false
  while not self:is_operator("]") do
    if self:take(":") then
      count = count + 1
      if count > 3 then self:fail("a slice has at most three parts") end
    elseif self:take(",") then
      several, parts, count = true, {}, 1
    elseif parts[count] then
      self:expect("]")
    else
      parts[count] = self:expression()
    end
  end
  self:expect("]")
  if several then return refused(line, "an index of several values is not supported") end
  if count > 1 then return node("slice", line, { object = object, parts = parts }) end
  if not parts[1] then self:fail("an index is expected") end
  return node("item", line, { object = object, key = parts[1] })
end

-- Returns the arguments of a call: a list, and a list of { name, value }, with `refused`: what is not supported.
function Expressions:arguments()
  local list, named, seen = {}, {}, {}
  self:expect("(")
  self:each_item(")", function()
    if self:take("*") or self:take("**") then
      named.refused = "arguments by * and ** are not supported"
      self:expression()
    elseif self:look().kind == "name" and self:is_operator("=", 1) then
      local name = self:next().value
      self:next()
      if seen[name] then self:fail(("%q is given twice"):format(name)) end
      seen[name], named[#named + 1] = true, { name = name, value = self:expression() }
    else
      if #named > 0 then self:fail("an argument without a name after one with a name") end
      list[#list + 1] = self:expression()
    end
  end)
  return list, named
end

function Expressions:postfix(object)
  local count = 0
  while true do
    count = self:count(count)
    local token = self:look()
    if self:take(".") then
      local member = self:next()
      if member.kind == "integer" then
        object = node("item", token.line, { object = object, key = self:number(member) })
      elseif member.kind == "name" then
        object = node("attribute", token.line, { object = object, name = member.value })
      else
        self:fail(described(member) .. "; a name is expected", member)
      end
    elseif self:take("[") then
      object = self:subscript(object, token.line)
    elseif self:is_operator("(") then
      local list, named = self:arguments()
      object = node("call", token.line, { callee = object, list = list, named = named })
    else
      return object
    end
  end
end

-- Returns a filter's node: without an object, that of a block.
function Expressions:filter(object)
  local line, name = self:look().line, self:expect_name()
  local list, named = {}, {}
  while self:take(".") do name = name .. "." .. self:expect_name() end
  if self:is_operator("(") then list, named = self:arguments() end
  return node("filter", line, { object = object, name = name, list = list, named = named })
end

local starts = { name = true, string = true, integer = true, float = true }
local no_start = { ["else"] = true, ["or"] = true, ["and"] = true }

function Expressions:test(object)
  local line = self:look().line
  local negated = self:take("not")
  local name, list, named = self:expect_name(), {}, {}
  local token = self:look()
  if self:is_operator("(") then
    list, named = self:arguments()
  elseif self:is_word("is") then
    self:fail("two tests follow each other")
  elseif starts[token.kind] and not (token.kind == "name" and no_start[token.value]) or self:is_operator("[")
    or self:is_operator("{") then
    list = { self:postfix(self:primary()) }
  end
  local test = node("test", line, { object = object, name = name, list = list, named = named })
  return negated and node("not", line, { value = test }) or test
end

function Expressions:filters(object)
  local count = 0
  while true do
    count = self:count(count)
    if self:take("|") then
      object = self:filter(object)
    elseif self:take("is") then
      object = self:test(object)
    elseif self:is_operator("(") then
      object = self:postfix(object)
    else
      return object
    end
  end
end

-- Calls read(self) one level deeper.
function Expressions:deeper(read, ...)
  self.depth = self.depth + 1
  if self.depth > DEEPEST then self:fail(("more than %d expressions within each other"):format(DEEPEST)) end
  local result = read(self, ...)
  self.depth = self.depth - 1
  return result
end

local signs = { ["-"] = "negative", ["+"] = "positive" }

function Expressions:unary(without_filters)
  local token = self:look()
  local object
  local kind = token.kind == "operator" and signs[token.value]
  if kind then
    self:next()
    object = node(kind, token.line, { value = self:deeper(self.unary, true) })
  else
    object = self:primary()
  end
  object = self:postfix(object)
  return without_filters and object or self:filters(object)
end

-- Returns a function that reads operators of one level, from the left. below: the name of the level below; kinds: an
-- operator -> its kind, of a binary node; a word is the kind of its own node.
local function level(below, kinds)
  return function(self)
    local left, count = self[below](self), 0
    while true do
      local token = self:look()
      local kind = (token.kind == "operator" or token.kind == "name") and kinds[token.value]
      if not kind then return left end
      count = self:count(count)
      self:next()
      left = node(token.kind == "operator" and "binary" or kind, token.line, { operator = kind, left = left,
        right = self[below](self) })
    end
  end
end

Expressions.power = level("unary", { ["**"] = "power" })
Expressions.product = level("power", { ["*"] = "multiply", ["/"] = "divide", ["//"] = "floor_divide",
  ["%"] = "remainder" })

function Expressions:joined()
  local line, items = self:look().line, { self:product() }
  while self:take("~") do items[#items + 1] = self:product() end
  return #items == 1 and items[1] or node("join", line, { items = items })
end

Expressions.sum = level("joined", { ["+"] = "add", ["-"] = "subtract" })

local comparisons = { ["=="] = "eq", ["!="] = "ne", ["<"] = "lt", ["<="] = "le", [">"] = "gt", [">="] = "ge" }

function Expressions:comparison()
  local line, first, others = self:look().line, self:sum(), {}
  while true do
    local token = self:look()
    local operator = token.kind == "operator" and comparisons[token.value]
    if operator then
      self:next()
    elseif self:take("in") then
      operator = "in"
    elseif self:is_word("not") and self:is_word("in", 1) then
      self.at = self.at + 2
      operator = "not_in"
    else
      break
    end
    others[#others + 1] = { operator = operator, value = self:sum() }
  end
  return #others == 0 and first or node("compare", line, { first = first, others = others })
end

function Expressions:negation()
  local token = self:take("not")
  if token then return node("not", token.line, { value = self:deeper(self.negation) }) end
  return self:comparison()
end

Expressions.conjunction = level("negation", { ["and"] = "and" })
Expressions.disjunction = level("conjunction", { ["or"] = "or" })

local function conditional(self)
  local value, count = self:disjunction(), 0
  while true do
    count = self:count(count)
    local token = self:take("if")
    if not token then return value end
    local test, other = self:disjunction(), nil
    if self:take("else") then other = self:deeper(conditional) end
    value = node("conditional", token.line, { test = test, value = value, other = other })
  end
end

--- Returns an expression. without_condition: `if` does not belong to it, as after `for ... in`.
function Expressions:expression(without_condition)
  return self:deeper(without_condition and self.disjunction or conditional)
end

-- True if no further item of a tuple follows.
function Expressions:is_tuple_end(last)
  local token = self:look()
  return token.kind == "end" or self:is_operator(")") or last ~= nil and self:is_word(last)
end

--- Returns an expression, or a tuple of several with commas. in_brackets: it may be empty; last: a word that ends it.
function Expressions:tuple(in_brackets, without_condition, last)
  local line, items, is_tuple = self:look().line, {}, false
  while true do
    if self:is_tuple_end(last) then break end
    items[#items + 1] = self:expression(without_condition)
    if not self:take(",") then break end
    is_tuple = true
  end
  if is_tuple or in_brackets and #items == 0 then return node("tuple", line, { items = items }) end
  return items[1] or self:fail(described(self:look()) .. "; an expression is expected")
end

return Expressions
