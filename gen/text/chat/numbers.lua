-- numbers.lua: gives the steps, comparisons, filters, tests and methods of chat templates, which the runtime knows by
-- number. runtime/chat/chat_numbers.h has them.
local c_tables = require("common.c_tables")

local HEADER = "chat/chat_numbers.h"

local numbers = {}

-- Returns the names of the members of an enumeration that begin with a prefix, in order, and name -> number from 0.
local function names_of(enum, prefix)
  local list, by_name = {}, {}
  for _, member in ipairs(enum) do
    local name = member.name:match("^" .. prefix .. "(.+)$")
    if name then list[#list + 1], by_name[name:lower()] = name:lower(), member.value end
  end
  return list, by_name
end

local enums = c_tables.enums(HEADER)
numbers.step = select(2, names_of(enums[1], "CHAT_STEP_"))
numbers.comparisons, numbers.comparison = names_of(enums[2], "CHAT_IS_")

-- Returns the rows of a macro in order, and by name: { number = from 0, name, parameters = { { name, is_required } } }.
local function rows_of(macro)
  local list, by_name = {}, {}
  for i, row in ipairs(c_tables.rows(HEADER, macro)) do
    local parameters = {}
    for mark, name in row[4]:gmatch("(!?)(%S+)") do
      parameters[#parameters + 1] = { name = name, is_required = mark == "!" }
    end
    assert(#parameters == tonumber(row[3]) and row[1] == row[2]:upper(), row[2])
    list[i] = { number = i - 1, name = row[2], parameters = parameters }
    by_name[row[2]] = list[i]
  end
  return list, by_name
end

numbers.filters, numbers.filter = rows_of("CHAT_FILTER_ROWS")
numbers.tests, numbers.test = rows_of("CHAT_TEST_ROWS")
numbers.methods, numbers.method = rows_of("CHAT_METHOD_ROWS")

--- Other names of filters, and of tests.
numbers.filter_names = { count = "length", d = "default" }
numbers.test_names = { ["=="] = "eq", equalto = "eq", ["!="] = "ne", [">"] = "gt", greaterthan = "gt", [">="] = "ge",
  ["<"] = "lt", lessthan = "lt", ["<="] = "le" }

--- The conversions of strftime_now.
numbers.dates = "YymdeHIMSjpBbhAawuFTRD%nt"

return numbers
