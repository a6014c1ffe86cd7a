-- generation.lua: reads the key `generation` of a description: the defaults of a model that generates.
-- Names and ranges are as in the program's options (runtime/generate/sampling.h).
local words = require("common.words")

local LARGEST, LEAST = 3.4e38, 1.18e-38
local MOST_STOPS = 64

-- Fields: a type of readers, and the range of a number.
local fields = {
  draw = { "boolean" },
  temperature = { "number", min = LEAST, max = LARGEST },
  top_k = { "integer", min = 0, max = 2147483647 },
  top_p = { "number", min = 0, max = 1 },
  min_p = { "number", min = 0, max = 1 },
  repetition_penalty = { "number", min = LEAST, max = LARGEST },
  tokens = { "integer", min = 1, max = 2147483647 },
  length = { "integer", min = 2, max = 2147483647 },
  stop = { "stop" },
}

return function(tools, read)
  local function read_stop(say, key, value)
    local list = {}
    if math.type(value) == "integer" then value = { value } end
    if type(value) ~= "table" or #value > MOST_STOPS then
      return say(key, ("%s, but a list of at most %d token ids is allowed"):format(tools.show(value), MOST_STOPS))
    end
    for i, id in ipairs(value) do
      list[i] = read.integer(say, { key = ("%s.%d"):format(key, i), min = 0, max = (1 << 20) - 1 }, id)
    end
    return #list == #value and list or nil
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
      elseif name == "stop" then
        result.stop = read_stop(say, field.key .. ".stop", value.stop)
      else
        result[name] = read[declared[1]](say, { key = field.key .. "." .. name, min = declared.min,
          max = declared.max }, value[name])
      end
    end
    return result
  end
end
