-- generation.lua: reads the key `generation` of a description: the defaults of a model that generates.
-- Names and ranges are as in the program's options (runtime/generate/sampling.h and processors.h).
local words = require("common.words")

local LARGEST, LEAST = 3.4e38, 1.18e-38
local MOST_IDS, MOST_WORDS = 64, 4096 -- of a list that each token is compared with; of one that is gone through once

-- Fields: a type of readers, and the range of a number or the most members of a list.
local fields = {
  draw = { "boolean" },
  temperature = { "number", min = LEAST, max = LARGEST },
  top_k = { "integer", min = 0, max = 2147483647 },
  top_p = { "number", min = 0, max = 1 },
  min_p = { "number", min = 0, max = 1 },
  repetition_penalty = { "number", min = LEAST, max = LARGEST },
  tokens = { "integer", min = 1, max = 2147483647 },
  length = { "integer", min = 2, max = 2147483647 },
  stop = { "ids", max = MOST_IDS },
  start = { "ids", max = MOST_IDS },
  beams = { "integer", min = 1, max = 128 },
  length_penalty = { "number", min = -8, max = 8 },
  early_stopping = { "early" },
  no_repeat_ngram = { "integer", min = 0, max = 2147483647 },
  min_length = { "integer", min = 0, max = 2147483647 },
  min_tokens = { "integer", min = 0, max = 2147483647 },
  renormalize = { "boolean" },
  forced_bos = { "integer", min = 0, max = (1 << 20) - 1 },
  forced_eos = { "ids", max = MOST_IDS },
  suppress = { "ids", max = MOST_WORDS },
  begin_suppress = { "ids", max = MOST_WORDS },
  bad_words = { "words", max = MOST_WORDS },
}

return function(tools, read)
  local own = {}

  function own.ids(say, field, value)
    local list = {}
    if math.type(value) == "integer" then value = { value } end
    if type(value) ~= "table" or #value > field.max then
      return say(field.key, ("%s, but a list of at most %d token ids is allowed"):format(tools.show(value), field.max))
    end
    for i, id in ipairs(value) do
      list[i] = read.integer(say, { key = ("%s.%d"):format(field.key, i), min = 0, max = (1 << 20) - 1 }, id)
    end
    return #list == #value and list or nil
  end

  function own.words(say, field, value)
    local list = {}
    if type(value) ~= "table" or #value > field.max then
      return say(field.key, ("%s, but at most %d lists of token ids are allowed"):format(tools.show(value), field.max))
    end
    for i, word in ipairs(value) do
      local key = ("%s.%d"):format(field.key, i)
      if type(word) == "table" and #word == 0 then say(key, "no token, but 1 or more are allowed") end
      list[i] = own.ids(say, { key = key, max = MOST_IDS }, word)
    end
    return #list == #value and list or nil
  end

  function own.early(say, field, value)
    if type(value) == "boolean" or value == "never" then return value end
    return say(field.key, tools.show(value) .. ', but true, false or "never" is allowed')
  end

  return function(say, field, value)
    if type(value) ~= "table" then
      return say(field.key, tools.show(value) .. ", but a table such as { temperature = 0.7, stop = { 2 } } is allowed")
    end
    local names, result = words.sorted_keys(fields), {}
    for _, name in ipairs(words.sorted_keys(value)) do
      local declared = fields[name]
      if not declared then
        say(field.key, ("no field %s%s"):format(tools.show(name), tools.suggestion(say, name, names)))
      else
        local reader = own[declared[1]] or read[declared[1]]
        result[name] = reader(say, { key = field.key .. "." .. name, min = declared.min, max = declared.max },
          value[name])
      end
    end
    if result.draw and (result.beams or 1) > 1 then
      say(field.key .. ".beams", ("%d, but with draw = true only 1 is allowed"):format(result.beams))
    end
    return result
  end
end
