-- numbers.lua: gives the numbers that a tokenizer's tables contain. runtime/text/numbers.h has them, and says what each
-- means: NORMALIZE_LOWERCASE there is numbers.NORMALIZE.lowercase here.
local c_tables = require("common.c_tables")
local words = require("common.words")

local HEADER = "text/numbers.h"

local numbers = {
  VERSION = c_tables.number(HEADER, "TEXT_TABLES_VERSION"),
  NONE = c_tables.number(HEADER, "TEXT_NONE"),
}

--- Names of the members, in order, by the prefix of their first enumeration.
numbers.names = {}

for _, enum in ipairs(c_tables.enums(HEADER)) do
  local prefix = enum[1].name:match("^%u+")
  local values, names = numbers[prefix] or {}, {}
  for i, member in ipairs(enum) do
    local name = member.name:match("^%u+_(.*)$"):lower()
    local is_count = i == #enum and (name == "count" or name == "kinds") -- the number of the other members
    if not is_count then values[name], names[i] = member.value, name end
  end
  numbers[prefix], numbers.names[prefix] = values, numbers.names[prefix] or names
end

--- Returns the values of a table by name as a list in the order of an enumeration. Each member has one.
function numbers.in_order(prefix, values)
  local list = words.map(numbers.names[prefix], function(name) return assert(values[name], name) end)
  assert(#words.sorted_keys(values) == #list, prefix)
  return list
end

return numbers
