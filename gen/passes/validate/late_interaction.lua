-- late_interaction.lua: reads the key `late_interaction` of a description: how texts become vectors of tokens, and how
-- the vectors of a query and a text are compared (Khattab and Zaharia 2020, ColBERT).
local values = require("passes.validate.values")

local late = {}

local MOST_SKIPPED = 4096 -- tokens

local function read_skipped(say, key, list)
  if type(list) ~= "table" or #list > MOST_SKIPPED then
    return say(key, "%s, but a list of at most %d tokens is allowed", values.show(list), MOST_SKIPPED)
  end
  return values.members(say, key, list, function(_, place, token)
    if type(token) == "string" and token ~= "" and #token <= 100 then return token end
    return say(place, values.show(token) .. ", but a token's text is allowed")
  end)
end

--- Reads the key: a table whose fields may all be missing.
local read_table = values.table_reader({
  query_marker = { type = "any_text" }, document_marker = { type = "any_text" },
  query_length = { type = "integer", min = 4, max = 65536 },
  document_length = { type = "integer", min = 4, max = 65536 },
  expands = { type = "boolean", default = false }, attends = { type = "boolean", default = false },
  skips_unknown = { type = "boolean", default = true },
  first = { type = "integer", min = 0, max = 64, default = 0 }, mean = { type = "boolean", default = false },
}, '{ query_marker = "[unused0]", document_marker = "[unused1]", query_length = 32, expands = true }')

function late.reader(say, field, value)
  local skipped, rest = nil, value
  if type(value) == "table" then
    rest = {}
    for key, each in pairs(value) do if key ~= "skip" then rest[key] = each end end
    if value.skip ~= nil then skipped = read_skipped(say, field.key .. ".skip", value.skip) end
  end
  local result = read_table(say, field, rest)
  if result then result.skip = skipped or {} end
  return result
end

--- Checks that the key fits the model. Without a tokenizer it has no effect.
function late.check(say, spec)
  local given = spec.late_interaction
  if not spec.tokenizer then spec.late_interaction = nil end
  if not given or not spec.tokenizer then return end
  for _, key in ipairs { "query_length", "document_length" } do
    if given[key] and spec.seq and given[key] > spec.seq then
      say("late_interaction." .. key, "%d, but calls take at most %d tokens", given[key], spec.seq)
    end
  end
  if given.expands and not given.query_length then say("late_interaction.expands", "goes with query_length") end
  if given.expands and not given.attends and spec.mask and not spec.mask.padding and not spec.any then
    say("late_interaction.expands", "without attends goes with mask = \"padding\", which hides the tokens that queries "
      .. "are filled up with")
  end
end

return late
