-- generation.lua: reads the key `generation` of a description: the defaults of a model that generates.
-- Names and ranges are as in the program's options (runtime/generate/sampling.h and processors.h).
local values = require("passes.validate.values")

local LARGEST, LEAST = 3.4e38, 1.18e-38
local MOST_IDS, MOST_WORDS = 64, 4096 -- of a list that each token is compared with; of one that is gone through once

-- Fields: a type of readers, and the range of a number or the most members of a list.
local fields = {
  draw = { type = "boolean" },
  temperature = { type = "number", min = LEAST, max = LARGEST },
  top_k = { type = "integer", min = 0, max = 2147483647 },
  top_p = { type = "number", min = 0, max = 1 },
  min_p = { type = "number", min = 0, max = 1 },
  repetition_penalty = { type = "number", min = LEAST, max = LARGEST },
  tokens = { type = "integer", min = 1, max = 2147483647 },
  length = { type = "integer", min = 2, max = 2147483647 },
  stop = { type = "ids", max = MOST_IDS },
  start = { type = "ids", max = MOST_IDS },
  beams = { type = "integer", min = 1, max = 128 },
  length_penalty = { type = "number", min = -8, max = 8 },
  early_stopping = { type = "true_false_never" },
  no_repeat_ngram = { type = "integer", min = 0, max = 2147483647 },
  min_length = { type = "integer", min = 0, max = 2147483647 },
  min_tokens = { type = "integer", min = 0, max = 2147483647 },
  renormalize = { type = "boolean" },
  forced_bos = { type = "integer", min = 0, max = (1 << 20) - 1 },
  forced_eos = { type = "ids", max = MOST_IDS },
  suppress = { type = "ids", max = MOST_WORDS },
  begin_suppress = { type = "ids", max = MOST_WORDS },
  bad_words = { type = "id_lists", max = MOST_WORDS },
}

local read = values.read

function read.ids(say, field, value)
  if math.type(value) == "integer" then value = { value } end
  if type(value) ~= "table" or #value > field.max then
    return say(field.key, "%s, but a list of at most %d token ids is allowed", values.show(value), field.max)
  end
  return values.members(say, field.key, value, function(_, key, id)
    return read.integer(say, { key = key, min = 0, max = (1 << 20) - 1 }, id)
  end)
end

function read.id_lists(say, field, value)
  if type(value) ~= "table" or #value > field.max then
    return say(field.key, "%s, but at most %d lists of token ids are allowed", values.show(value), field.max)
  end
  return values.members(say, field.key, value, function(_, key, word)
    if type(word) == "table" and #word == 0 then say(key, "no token, but 1 or more are allowed") end
    return read.ids(say, { key = key, max = MOST_IDS }, word)
  end)
end

function read.true_false_never(say, field, value)
  if type(value) == "boolean" or value == "never" then return value end
  return say(field.key, values.show(value) .. ', but true, false or "never" is allowed')
end

return values.table_reader(fields, "{ temperature = 0.7, stop = { 2 } }", false, function(say, key, result)
  if result.draw and (result.beams or 1) > 1 then
    say(key .. ".beams", "%d, but with draw = true only 1 is allowed", result.beams)
  end
end)
