-- tables.lua: writes a compiled chat template as bytes, which tests/c/chat_cases.c reads.
local numbers = require("text.chat.numbers")

local tables = {}

local function number(value) return string.pack("<i4", value) end
local function word(text) return string.pack("<s4", text) end

--- Returns the bytes. made: the result of template.compile; tokens: a list of { name, text }.
function tables.pack(made, tokens)
  local parts = { number(#made.steps), number(#made.words), number(#made.reals), number(#made.parameters),
    number(#made.macros), number(#tokens), number(made.slots) }
  local function add(text) parts[#parts + 1] = text end
  for _, s in ipairs(made.steps) do
    add(number(numbers.step[s.name]) .. number(math.min(s.line, 65535)) .. number(s.a) .. number(s.b))
  end
  for _, text in ipairs(made.words) do add(word(text)) end
  for _, value in ipairs(made.reals) do add(string.pack("<d", value)) end
  for _, value in ipairs(made.parameters) do add(number(value)) end
  for _, m in ipairs(made.macros) do
    add(number(m.name) .. number(m.entry) .. number(m.first) .. number(m.count) .. number(m.slots))
  end
  for _, token in ipairs(tokens) do add(word(token.name) .. word(token.text)) end
  return table.concat(parts)
end

return tables
