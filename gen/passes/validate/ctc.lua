-- ctc.lua: reads the key `ctc` of a description: how rows of scores become text.
local words = require("common.words")

-- Fields: a type of readers, and what restricts its value. A delimiter or space may be empty.
local fields = {
  blank = { "integer", min = 0, max = 65535, default = 0 },
  delimiter = { "any_text" },
  space = { "any_text", default = " " },
  lower = { "boolean", default = false },
  clean = { "boolean", default = false },
}

local ctc = {}

--- Returns the reader of the key: a table with all fields, of which `delimiter` may be missing; false for false.
function ctc.reader(tools, read)
  local function any_text(say, field, value) return value == "" and "" or read.text(say, field, value) end

  return function(say, field, value)
    if value == false then return false end
    if type(value) ~= "table" then
      return say(field.key, tools.show(value) .. ", but false or a table such as { blank = 0, delimiter = \"|\" } is "
        .. "allowed")
    end
    local names, result = words.sorted_keys(fields), {}
    for name, declared in pairs(fields) do result[name] = declared.default end
    for _, name in ipairs(words.sorted_keys(value)) do
      local declared = fields[name]
      if not declared then
        say(field.key, ("no field %s%s"):format(tools.show(name), tools.suggestion(say, name, names)))
      else
        local reader = declared[1] == "any_text" and any_text or read[declared[1]]
        result[name] = reader(say, { key = field.key .. "." .. name, min = declared.min, max = declared.max },
          value[name])
      end
    end
    return result
  end
end

--- Checks that the key fits the labels, which are the tokens.
function ctc.check(say, spec)
  if not spec.ctc then return end
  if not spec.labels then
    say("ctc", "goes with labels, which name the tokens")
  elseif spec.ctc.blank and spec.ctc.blank >= #spec.labels then
    say("ctc.blank", ("%d, but a token from 0 to %d is allowed"):format(spec.ctc.blank, #spec.labels - 1))
  end
  if spec.tokenizer then say("ctc", "does not go with a tokenizer") end
end

return ctc
