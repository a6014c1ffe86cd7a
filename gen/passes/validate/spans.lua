-- spans.lua: reads the key `spans` of a description: how texts get spans of labels that come with them (Zaratiana et
-- al. 2023, GLiNER).
local values = require("passes.validate.values")

local spans = {}

--- Reads the key: a table.
spans.reader = values.table_reader({
  label = { type = "any_text", required = true }, separator = { type = "any_text", required = true },
  added = { type = "text" },
  width = { type = "integer", min = 1, max = 1024, default = 12 },
  words = { type = "integer", min = 1, max = 65536, default = 384 },
}, '{ label = "<<ENT>>", separator = "<<SEP>>", width = 12, words = 384 }')

-- The outputs that spans are made of; the width of each, in terms of the first one's.
local outputs = { { "starts", 0 }, { "ends", 0 }, { "labels", 1 } }

--- Checks that the key fits the model. Without a tokenizer it has no effect.
function spans.check(say, spec)
  if not spec.tokenizer then spec.spans = nil end
  if not spec.spans then return end
  local stages, first = {}, nil
  for _, stage in ipairs(spec.output) do stages[stage.name or false] = stage end
  local pairs_ = stages.pairs and stages.pairs.stage == "match" and stages.pairs
  if pairs_ then spec.spans.most = pairs_.most end
  if pairs_ and pairs_.scores and pairs_.scores ~= 3 then
    say("spans", ("the output pairs has %d scores of a pair, but 3 are expected"):format(pairs_.scores))
  end
  for _, each in ipairs(pairs_ and {} or outputs) do
    local stage = stages[each[1]]
    first = first or stage and stage.to
    if not stage or stage.stage ~= "linear" then
      say("spans", "goes with an output called %s, a linear layer", each[1])
    elseif first and stage.to ~= first + each[2] then
      say("spans", "the output %s has %d numbers, but %d are expected, %s", each[1], stage.to, first + each[2],
        each[2] > 0 and "one more than in starts" or "as in starts")
    end
  end
  if (spec.input.types or 0) > 0 then say("spans", "does not go with input = tokens { types = ... }") end
  if spec.context then say("spans", "does not go with a context") end
end

return spans
