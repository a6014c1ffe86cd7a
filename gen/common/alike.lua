-- alike.lua: one table in place of all tables with the same contents, so that comparing them takes one
-- comparison, and what is computed for one holds for all. Nobody changes a shared table.
local alike = {}

local LEAF, NONE = {}, {}

-- Numbers that are equal but not the same as text have keys of their own: 1 and 1.0, 0.0 and -0.0.
local function key_of(value)
  if value == nil then return NONE end
  return math.type(value) == "float" and ("%a"):format(value) or value
end

--- A function that returns the first table that it was given with the same values under these names; without names,
--- with the same members of a list.
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

return alike
