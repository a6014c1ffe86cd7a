-- alike.lua: replaces tables with the same contents by one shared table, so that one comparison tells them apart.
-- A value that is computed for a shared table holds for all tables that it replaces. Nobody changes a shared table.
local words = require("common.words")

local alike = {}

local LEAF, NONE = {}, {}

-- Returns the key of a value. Equal numbers that differ as text have different keys: 1 and 1.0, 0.0 and -0.0.
local function key_of(value)
  if value == nil then return NONE end
  return math.type(value) == "float" and ("%a"):format(value) or value
end

--- Returns a function that takes a table, and returns the first table given to it that has the same values under
--- `names`. Without names, the tables are lists, and their members are compared.
function alike.first_of(names)
  local root = {}
  return function(values)
    local node = root
    for i = 1, #(names or values) do
      local key = key_of(values[names and names[i] or i])
      local below = node[key]
      if not below then
        below = {}
        node[key] = below
      end
      node = below
    end
    node[LEAF] = node[LEAF] or values
    return node[LEAF]
  end
end

-- True if two lists have the same members. Tables in them are the same if what they contain but tables is.
local function are_same(x, y)
  if #x ~= #y then return false end
  for i = 1, #x do
    local a, b = x[i], y[i]
    if a ~= b and not (type(a) == "table" and type(b) == "table" and words.same_members(a, b)) then return false end
  end
  return true
end

--- Returns a function that takes a list, and returns the first list given to it with the same members: numbers, texts,
--- booleans, and tables of these. It takes less memory than first_of() for long lists of which many are alike.
function alike.first_list()
  local by_sum = {}
  return function(list)
    local sum = #list
    for i = 1, #list do
      if math.type(list[i]) == "integer" then sum = sum * 31 + list[i] end
    end
    local known = by_sum[sum] or {}
    for _, first in ipairs(known) do if are_same(first, list) then return first end end
    by_sum[sum], known[#known + 1] = known, list
    return list
  end
end

local ABSENT = {} -- represents nil in a list of arguments

--- Returns a function that calls make(...) once for each name and list of arguments. Layers are alike, so what is made
--- for one is that of all.
function alike.memoiser()
  local first_of, made = alike.first_of(), {}
  return function(name, make, ...)
    local list = table.pack(name, ...)
    for i = 1, list.n do if list[i] == nil then list[i] = ABSENT end end
    local first = first_of(list)
    made[first] = made[first] or make(...)
    return made[first]
  end
end

return alike
