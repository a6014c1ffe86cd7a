-- chat.lua: writes the tables of a chat template, as the values of templates/chat.c.in.
-- A step has the text that it uses as a comment.
local c = require("common.c")
local numbers = require("text.chat.numbers")
local terminal = require("common.terminal")

local emit_chat = {}

local MOST_LINE = 65535

-- The steps whose number a or b is a word.
local of_a = { text = true, word = true, attribute = true, set = true, refuse = true }
local of_b = { clear = true, resolve = true }

-- Returns a note about a step's numbers.
local function note_of(chat, step)
  local word = of_a[step.name] and step.a or of_b[step.name] and step.b
  if word then return c.comment(terminal.short(("%q"):format(chat.words[word + 1]), 60)) end
  if step.name == "filter" then return numbers.filters[step.a + 1].name end
  if step.name == "test" then return numbers.tests[step.a + 1].name end
  if step.name == "method" then return numbers.methods[step.a + 1].name end
  if step.name == "compare" then return numbers.comparisons[step.a + 1] end
  return nil
end

local function word_of(text) return ("{%s, %d}"):format(c.string(text), #text) end

function emit_chat.values(chat)
  local made = { chat_file = c.comment(terminal.safe(chat.file:match("[^/]*$"))), words = {}, steps = {}, reals = {},
    parameters = chat.parameters, macros = {}, tokens = {}, slots = chat.slots, word_count = #chat.words }
  for i, text in ipairs(chat.words) do made.words[i] = word_of(text) end
  if #chat.words == 0 then made.words[1] = word_of("") end
  for i, step in ipairs(chat.steps) do
    local note = note_of(chat, step)
    made.steps[i] = ("{CHAT_STEP_%s, %d, %d, %d},%s"):format(step.name:upper(), math.min(step.line, MOST_LINE), step.a,
      step.b, note and " /* " .. note .. " */" or "")
  end
  for i, value in ipairs(chat.reals) do made.reals[i] = c.double(value) end
  for i, m in ipairs(chat.macros) do
    made.macros[i] = ("{%d, %d, %d, %d, %d}"):format(m.name, m.entry, m.first, m.count, m.slots)
  end
  for i, token in ipairs(chat.tokens) do
    made.tokens[i] = ("{%s, ATTN2C_CHAT_TEXT, %s, %d, 0}"):format(c.string(token.name), c.string(token.text),
      #token.text)
  end
  made.real_list, made.parameter_list = table.concat(made.reals, ", "), table.concat(chat.parameters, ", ")
  return made
end

return emit_chat
