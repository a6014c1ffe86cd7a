-- scopes.lua: finds the variables of a scope of a chat template, and how each begins, by Jinja's rules.
-- A scope is the template, a macro, or the body of a loop, `with`, a block that is set, filtered or generated. It
-- begins anew with each iteration. Its statements are read in order: a variable that is read first begins with the
-- value of the scope outside or with the caller's input of that name; one that is set first begins undefined, unless
-- the scope outside has it.
local scopes = {}

local Scope = {}
Scope.__index = Scope

--- Returns a scope. outer: the scope around it, or nil; activation: what counts the slots, { count }.
function scopes.new(outer, activation)
  return setmetatable({ outer = outer, activation = activation, slots = {}, order = {},
    seen = { refs = {}, begins = {}, stores = {} } }, Scope)
end

function Scope:slot(name)
  local slot = self.slots[name]
  if not slot then
    slot = { number = self.activation.count, activation = self.activation, name = name }
    self.activation.count = slot.number + 1
    self.slots[name], self.order[#self.order + 1] = slot, slot
  end
  return slot
end

--- Returns the slot that a name means in this scope, or nil.
function Scope:find(name)
  if self.seen.refs[name] then return self.slots[name] end
  return self.outer and self.outer:find(name)
end

function Scope:define(name, how, from)
  self.seen.refs[name] = true
  self.seen.begins[name] = { how = how, from = from }
  return self:slot(name)
end

--- Declares a name that is filled when the scope begins: a loop's target, a macro's parameter.
function Scope:parameter(name)
  self.seen.stores[name] = true
  return self:define(name, "given")
end

function Scope:load(name)
  if not self:find(name) then self:define(name, "resolved") end
end

function Scope:store(name)
  self.seen.stores[name] = true
  if self.seen.refs[name] then return end
  local outer = self.outer and self.outer:find(name)
  if outer then
    self:define(name, "copied", outer)
  else
    self:define(name, "undefined")
  end
end

-- Returns tables that have what others have, and of which a loop gives what is added.
local function on_top_of(seen)
  local top = {}
  for key, set in pairs(seen) do top[key] = setmetatable({}, { __index = set }) end
  return top
end

-- Calls each reader with the names seen so far. A name that not all of them store begins as if it were read first.
function Scope:branches(readers)
  local before, after = self.seen, {}
  for i, read in ipairs(readers) do
    self.seen = on_top_of(before)
    read()
    after[i] = self.seen
  end
  self.seen = before
  local counts = {}
  for _, seen in ipairs(after) do
    for name in pairs(seen.stores) do
      if not before.stores[name] then counts[name] = (counts[name] or 0) + 1 end
    end
  end
  for _, seen in ipairs(after) do
    for key, set in pairs(seen) do
      for name, value in pairs(set) do before[key][name] = value end
    end
  end
  for name, count in pairs(counts) do
    if count < #readers then
      local outer = self.outer and self.outer:find(name)
      if outer then
        self:define(name, "copied", outer)
      else
        self:define(name, "resolved")
      end
    end
  end
end

local read_expression

local function read_all(scope, list) for _, each in ipairs(list or {}) do read_expression(scope, each) end end

-- Fields of expressions that hold expressions, and lists of them.
local single = { "object", "key", "value", "left", "right", "first", "test", "other", "callee" }
local several = { "items", "keys", "values", "list" }

-- Reads the names of an expression, in the order in which they are evaluated.
function read_expression(scope, e)
  if e.kind == "name" then return scope:load(e.name) end
  for _, field in ipairs(single) do if type(e[field]) == "table" then read_expression(scope, e[field]) end end
  for _, field in ipairs(several) do if type(e[field]) == "table" then read_all(scope, e[field]) end end
  for _, each in ipairs(e.named or {}) do read_expression(scope, each.value) end
  for _, each in ipairs(e.others or {}) do read_expression(scope, each.value) end
  for i = 1, 3 do if e.parts and e.parts[i] then read_expression(scope, e.parts[i]) end end
end

local function store_target(scope, target)
  if target.kind == "name" then return scope:store(target.name) end
  if target.kind == "namespace" then return scope:load(target.name) end
  for _, each in ipairs(target.items) do scope:store(each.name) end
end

local read_statements
local readers = {}

readers["if"] = function(scope, s)
  read_expression(scope, s.branches[1].test)
  scope:branches { function() read_statements(scope, s.branches[1].body) end,
    function()
      for i = 2, #s.branches do readers["if"](scope, { branches = { s.branches[i] } }) end
    end,
    function() read_statements(scope, s.other or {}) end }
end

readers["for"] = function(scope, s) read_expression(scope, s.over) end
readers["with"] = function(scope, s) read_all(scope, s.values) end
function readers.print(scope, s) read_expression(scope, s.value) end
function readers.macro(scope, s) scope:store(s.name) end
function readers.set_block(scope, s) store_target(scope, s.target) end

function readers.set(scope, s)
  read_expression(scope, s.value)
  store_target(scope, s.target)
end

function readers.filter_block(scope, s) read_all(scope, s.filters) end

function read_statements(scope, list)
  for _, s in ipairs(list) do if readers[s.kind] then readers[s.kind](scope, s) end end
end

--- Reads the statements that belong to a scope, without the statements of scopes within it.
scopes.read = read_statements

--- Reads one expression that belongs to a scope.
scopes.read_expression = read_expression

--- Returns a scope's slots in order, with how each begins: { slot, how, from }. how: "given", "resolved" (from the
--- caller's inputs), "undefined", "copied" (from a slot of a scope outside).
function scopes.beginnings(scope)
  local list = {}
  for i, slot in ipairs(scope.order) do
    local begins = scope.seen.begins[slot.name]
    list[i] = { slot = slot, how = begins.how, from = begins.from }
  end
  return list
end

return scopes
