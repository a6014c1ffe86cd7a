-- ctc.lua: reads the key `ctc` of a description: how rows of scores become text.
local values = require("passes.validate.values")

local ctc = {}

--- Reads the key: a table with all fields, of which `delimiter` may be missing; false for false. Texts may be empty.
ctc.reader = values.table_reader({
  blank = { type = "integer", min = 0, max = 65535, default = 0 },
  delimiter = { type = "any_text" },
  space = { type = "any_text", default = " " },
  lower = { type = "boolean", default = false },
  clean = { type = "boolean", default = false },
}, '{ blank = 0, delimiter = "|" }', true)

--- Checks that the key fits the labels, which are the tokens.
function ctc.check(say, spec)
  if not spec.ctc then return end
  if not spec.labels then
    say("ctc", "goes with labels, which name the tokens")
  elseif spec.ctc.blank and spec.ctc.blank >= #spec.labels then
    say("ctc.blank", "%d, but a token from 0 to %d is allowed", spec.ctc.blank, #spec.labels - 1)
  end
  if spec.tokenizer then say("ctc", "does not go with a tokenizer") end
end

return ctc
