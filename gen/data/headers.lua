-- headers.lua: writes the headers of the runtime that repeat tables of the compiler (`make headers`).
-- The headers are in the repository, so that the runtime is compiled without Lua. tests/spec/data/headers_spec.lua
-- compares them with the tables.
local numbers = require("text.numbers")

local headers = {}

-- Returns a header's text. purpose: its opening sentence; from: the file that has the table; body: a list of lines.
local function header(path, purpose, from, body)
  local name = path:match("[^/]*$")
  local guard = "ATTN2C_" .. path:match("([^/]*/[^/]*)%.h$"):gsub("/", "_"):upper() .. "_H"
  return ([[
/* %s - %s
 * `make headers` writes this file from %s. */
/* clang-format off */
#ifndef %s
#define %s

%s

#endif
/* clang-format on */
]]):format(name, purpose, from, guard, guard, table.concat(body, "\n"))
end

-- Appends an enumeration of numbers.lua as C.
local function add_enum(body, enum)
  local values, line = numbers[enum.prefix], "  %s_%s%s,%s"
  body[#body + 1] = ("/* %s */"):format(enum.purpose:gsub("^%l", string.upper) .. ".")
  body[#body + 1] = enum.type and ("enum %s {"):format(enum.type) or "enum {"
  for _, member in ipairs(enum) do
    body[#body + 1] = line:format(enum.prefix, member[1]:upper(), " = " .. values[member[1]],
      member[2] and (" /* %s */"):format(member[2]) or "")
  end
  if enum.count then body[#body + 1] = line:format(enum.prefix, enum.count, " = " .. #enum, "") end
  body[#body] = body[#body]:gsub(",", "", 1)
  body[#body + 1] = "};"
end

local function text_numbers(path)
  local body = { ("#define TEXT_TABLES_VERSION %d"):format(numbers.VERSION),
    ("#define TEXT_NONE 0x%xu"):format(numbers.NONE) }
  for _, enum in ipairs(numbers.list) do
    body[#body + 1] = ""
    add_enum(body, enum)
  end
  return header(path, "the numbers that a tokenizer's tables contain.", "gen/text/numbers.lua", body)
end

--- The headers: their path, and the function that returns their text.
headers.list = {
  { path = "runtime/text/numbers.h", text = text_numbers },
}

--- Returns the headers whose files differ from the tables: a list of { path, text }. read(path) returns a file's text.
function headers.stale(read)
  local list = {}
  for _, each in ipairs(headers.list) do
    local text = each.text(each.path)
    if read(each.path) ~= text then list[#list + 1] = { path = each.path, text = text } end
  end
  return list
end

return headers
