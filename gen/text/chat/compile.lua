-- compile.lua: turns the tree of a chat template into steps for a stack machine (runtime/chat/run.c).
-- Expressions leave one value on the stack, statements none.
local calls = require("text.chat.calls")
local numbers = require("text.chat.numbers")
local scopes = require("text.chat.scopes")

local Compiler = {}
Compiler.__index = Compiler

local MOST_STEPS = 1 << 20
local CONSTANT = { none = 0, no = 1, yes = 2, undefined = 4 }

-- Appends a step; returns its index, from 0.
function Compiler:add(name, a, b)
  local steps = self.steps
  if #steps >= MOST_STEPS then self.fail(self.line, ("more than %d steps"):format(MOST_STEPS)) end
  steps[#steps + 1] = { name = name, a = a or 0, b = b or 0, line = self.line }
  return #steps - 1
end

-- Refuses a template that always reaches what is not supported. In a branch, keeps a line for the user. advice: more
-- for the message of a template.
function Compiler:note(what, advice)
  if self.branches == 0 then self.fail(self.line, what .. (advice or "")) end
  self.refusals[#self.refusals + 1] = { line = self.line, what = what }
end

-- Refuses what is not supported, also in the chats that reach it.
function Compiler:refuse(what, advice)
  self:note(what, advice)
  self:add("refuse", self:word(what))
end

-- Compiles with visit(c, node) what is perhaps not reached.
function Compiler:perhaps(visit, node)
  self.branches = self.branches + 1
  visit(self, node)
  self.branches = self.branches - 1
end

-- Makes a step that jumps go to the step that is added next.
function Compiler:land(at) self.steps[at + 1].a = #self.steps end

function Compiler:word(text)
  local index = self.word_of[text]
  if not index then
    index = #self.words
    self.words[index + 1], self.word_of[text] = text, index
  end
  return index
end

local expressions, statements = {}, {}

function Compiler:expression(e)
  local line = self.line
  self.line = e.line
  expressions[e.kind](self, e)
  self.line = line
end

function Compiler:all(list) for _, each in ipairs(list) do self:expression(each) end end

function Compiler:load(slot) self:add(slot.activation == self.activation and "load" or "load_root", slot.number) end

function expressions.none(c) c:add("constant", CONSTANT.none) end
function expressions.boolean(c, e) c:add("constant", e.value and CONSTANT.yes or CONSTANT.no) end
function expressions.integer(c, e) c:add("integer", e.value) end
function expressions.string(c, e) c:add("word", c:word(e.value)) end

expressions["float"] = function(c, e)
  c.reals[#c.reals + 1] = e.value
  c:add("real", #c.reals - 1)
end

local special = { caller = true, varargs = true, kwargs = true }

function expressions.refused(c, e) c:refuse(e.what) end

function expressions.name(c, e)
  if special[e.name] and c.own and not c.own[e.name] then
    return c:refuse(("%q of a macro is not supported"):format(e.name))
  end
  c:load(assert(c.scope:find(e.name), e.name))
end

local function of_values(name, field)
  return function(c, e)
    c:all(e[field])
    c:add(name, #e[field])
  end
end

expressions.list, expressions.tuple = of_values("list", "items"), of_values("tuple", "items")
expressions.join = of_values("join", "items")

function expressions.dict(c, e)
  for i, key in ipairs(e.keys) do
    c:expression(key)
    c:expression(e.values[i])
  end
  c:add("dict", #e.keys)
end

for _, name in ipairs { "not", "negative", "positive" } do
  expressions[name] = function(c, e)
    c:expression(e.value)
    c:add(name)
  end
end

for _, name in ipairs { "and", "or" } do
  expressions[name] = function(c, e)
    c:expression(e.left)
    local jump = c:add(name)
    c:perhaps(c.expression, e.right)
    c:land(jump)
  end
end

function expressions.binary(c, e)
  c:expression(e.left)
  c:expression(e.right)
  c:add(e.operator)
end

-- a < b < c is a < b and b < c, with b evaluated once.
function expressions.compare(c, e)
  c:expression(e.first)
  local jumps = {}
  for i, each in ipairs(e.others) do
    local is_last = i == #e.others
    if i == 1 then c:expression(each.value) else c:perhaps(c.expression, each.value) end
    c:add("compare", numbers.comparison[each.operator], is_last and 0 or 1)
    if not is_last then jumps[i] = c:add("and") end
  end
  if #jumps == 0 then return end
  local past = c:add("jump")
  for _, jump in ipairs(jumps) do c:land(jump) end
  c:add("under")
  c:land(past)
end

function expressions.conditional(c, e)
  c:expression(e.test)
  local no = c:add("jump_false")
  c:perhaps(c.expression, e.value)
  local past = c:add("jump")
  c:land(no)
  if e.other then c:perhaps(c.expression, e.other) else c:add("constant", CONSTANT.undefined) end
  c:land(past)
end

function expressions.item(c, e)
  c:expression(e.object)
  c:expression(e.key)
  c:add("item")
end

function expressions.slice(c, e)
  c:expression(e.object)
  for i = 1, 3 do
    if e.parts[i] then c:expression(e.parts[i]) else c:add("constant", CONSTANT.none) end
  end
  c:add("slice")
end

-- Refuses a name that begins with an underscore, as transformers' sandbox does.
local function check_member(c, name)
  if name:sub(1, 1) == "_" then c:refuse(("the attribute %q is not allowed"):format(name)) end
end

function expressions.attribute(c, e)
  check_member(c, e.name)
  c:expression(e.object)
  c:add("attribute", c:word(e.name))
end

expressions.call, expressions.filter, expressions.test = calls.call, calls.filter, calls.test

-- Begins a scope: fills its slots.
function Compiler:enter(scope)
  self.scope = scope
  for _, each in ipairs(scopes.beginnings(scope)) do
    local slot = each.slot.number
    if each.how == "resolved" then
      self:add("resolve", slot, self:word(each.slot.name))
    elseif each.how == "undefined" then
      self:add("clear", slot, self:word(each.slot.name))
    elseif each.how == "copied" then
      self:load(each.from)
      self:add("store", slot)
    end
  end
end

-- Compiles statements in a scope within the present one. declare(scope): names that are given; before(scope): steps
-- after the scope's beginning.
function Compiler:within(list, declare, before)
  local outer = self.scope
  local scope = scopes.new(outer, self.activation)
  if declare then declare(scope) end
  scopes.read(scope, list)
  if before then before(scope) end
  self:enter(scope)
  self:statements(list)
  self.scope = outer
end

function Compiler:statements(list)
  for _, s in ipairs(list) do
    self.line = s.line
    statements[s.kind](self, s)
  end
end

-- Pops a value into a target.
function Compiler:store(target)
  if target.kind == "namespace" then
    check_member(self, target.attribute)
    self:expression { kind = "name", name = target.name, line = target.line }
    self:add("set", self:word(target.attribute))
  elseif target.kind == "names" then
    self:add("unpack", #target.items)
    for _, each in ipairs(target.items) do self:store(each) end
  else
    self:add("store", self.scope:find(target.name).number)
  end
end

function statements.refused(c, s) c:refuse(s.what) end
function statements.text(c, s) c:add("text", c:word(s.value)) end

function statements.print(c, s)
  c:expression(s.value)
  c:add("print")
end

statements["if"] = function(c, s)
  local ends = {}
  for i, branch in ipairs(s.branches) do
    if i == 1 then c:expression(branch.test) else c:perhaps(c.expression, branch.test) end
    local no = c:add("jump_false")
    c:perhaps(c.statements, branch.body)
    if i < #s.branches or s.other then ends[#ends + 1] = c:add("jump") end
    c:land(no)
  end
  if s.other then c:perhaps(c.statements, s.other) end
  for _, jump in ipairs(ends) do c:land(jump) end
end

function statements.set(c, s)
  c:expression(s.value)
  c.line = s.line
  c:store(s.target)
end

-- Applies the filters of a block to the value on the stack.
local function add_filters(c, filters)
  for _, each in ipairs(filters) do
    c.line = each.line
    calls.apply_filter(c, each)
  end
end

function statements.set_block(c, s)
  c:add("capture")
  c:within(s.body)
  c:add("captured")
  add_filters(c, s.filters)
  c:store(s.target)
end

function statements.filter_block(c, s)
  c:add("capture")
  c:within(s.body)
  c:add("captured")
  add_filters(c, s.filters)
  c:add("print")
end

function statements.generation(c, s) c:within(s.body) end

statements["with"] = function(c, s)
  c:all(s.values)
  c:within(s.body, function(scope)
    for _, name in ipairs(s.names) do scope:parameter(name) end
  end, function(scope)
    for i = #s.names, 1, -1 do c:add("store", scope:find(s.names[i]).number) end
  end)
end

local function declare_target(scope, target)
  for _, each in ipairs(target.items or { target }) do scope:parameter(each.name) end
end

-- Calls visit(node) for each table of a tree.
local function walk(tree, visit)
  visit(tree)
  for _, each in pairs(tree) do if type(each) == "table" then walk(each, visit) end end
end

-- Refuses a condition of a loop that reads what the loop's body changes: it is evaluated for all items before that.
local function check_condition(c, s)
  local changed = {}
  walk(s.body, function(n) if n.kind == "namespace" then changed[n.name] = true end end)
  walk(s.test, function(n)
    if n.kind == "name" and (changed[n.name] or n.name == "loop") then
      c:refuse(("the loop's condition reads %q, which %s"):format(n.name,
        n.name == "loop" and "it cannot" or "the loop changes"))
    end
  end)
end

-- Replaces what is iterated over by a list of the items for which the loop's condition is true.
local function add_condition(c, s)
  check_condition(c, s)
  local outer = c.scope
  c:add("list", 0)
  c:expression(s.over)
  c:add("loop")
  local again = c:add("next")
  local scope = scopes.new(outer, c.activation)
  declare_target(scope, s.target)
  scopes.read_expression(scope, s.test)
  c:add("append")
  c:enter(scope)
  c:store(s.target)
  c:perhaps(c.expression, s.test)
  c:add("keep")
  c:add("jump", again)
  c:land(again)
  c:add("end_loop")
  c.scope = outer
end

statements["for"] = function(c, s)
  if s.test then add_condition(c, s) else c:expression(s.over) end
  c.line = s.line
  c:add("loop")
  c.branches = c.branches + 1
  local outer_breaks, outer_again = c.breaks, c.again
  c.breaks, c.again = {}, c:add("next")
  local again, breaks = c.again, c.breaks
  c:within(s.body, function(scope)
    scope:parameter("loop")
    declare_target(scope, s.target)
  end, function(scope)
    c.scope = scope
    c:store(s.target)
    c:add("itself", scope:find("loop").number)
  end)
  if s.other then c:add("round") end
  c:add("jump", again)
  c:land(again)
  for _, jump in ipairs(breaks) do c:land(jump) end
  c.breaks, c.again = outer_breaks, outer_again
  if s.other then
    local past = c:add("end_else")
    c:within(s.other)
    c:land(past)
  else
    c:add("end_loop")
  end
  c.branches = c.branches - 1
end

statements["break"] = function(c) c.breaks[#c.breaks + 1] = c:add("jump") end
statements["continue"] = function(c) c:add("jump", c.again) end

function statements.macro(c, s)
  if c.scope ~= c.root then return c:refuse("a macro within a loop, a macro or a block is not supported") end
  c.macros[#c.macros + 1] = s
  c:add("macro", #c.macros - 1)
  c:store { kind = "name", name = s.name }
end

-- Compiles the body of a macro. Its parameters have the first slots.
local function macro_body(c, s)
  local activation = { count = 0 }
  local scope = scopes.new(c.root, activation)
  local own = {}
  for _, parameter in ipairs(s.parameters) do
    scope:parameter(parameter.name)
    own[parameter.name] = true
  end
  for _, parameter in ipairs(s.parameters) do
    if parameter.default then scopes.read_expression(scope, parameter.default) end
  end
  scopes.read(scope, s.body)
  local first = #c.parameters
  for _, parameter in ipairs(s.parameters) do c.parameters[#c.parameters + 1] = c:word(parameter.name) end
  local made = { name = c:word(s.name), entry = #c.steps, first = first, count = #s.parameters }
  c.activation, c.line, c.own, c.branches = activation, s.line, own, 1
  c:enter(scope)
  for i, parameter in ipairs(s.parameters) do
    local given = c:add("given", 0, i - 1)
    if parameter.default then
      c:expression(parameter.default)
      c:add("store", i - 1)
    else
      c:add("clear", i - 1, c:word(parameter.name))
    end
    c:land(given)
  end
  c:statements(s.body)
  c:add("return")
  made.slots = activation.count
  return made
end

--- Compiles the statements of a template. Returns { steps = { { name, a, b, line } }, words, reals, parameters (words
--- of macros' parameters), macros = { { name, entry, first, count, slots } }, slots, refusals = { { line, what } } of
--- what a chat may reach }. fail(line, what) is called for what is always reached and unsupported, and must not return.
local function compile(tree, fail)
  local root_slots = { count = 0 }
  local c = setmetatable({ fail = fail, steps = {}, words = {}, word_of = {}, reals = {}, macros = {}, parameters = {},
    activation = root_slots, line = 1, branches = 0, refusals = {} }, Compiler)
  c.root = scopes.new(nil, root_slots)
  scopes.read(c.root, tree)
  c:enter(c.root)
  c:statements(tree)
  c:add("stop")
  local macros = {}
  for i, s in ipairs(c.macros) do macros[i] = macro_body(c, s) end
  return { steps = c.steps, words = c.words, reals = c.reals, parameters = c.parameters, macros = macros,
    slots = root_slots.count, refusals = c.refusals }
end

return { compile = compile }
