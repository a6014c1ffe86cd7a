-- rope_scaling.lua: reads the key `rope_scaling` of a description: the fields of each type of scaled rotary positions.
local values = require("passes.validate.values")
local words = require("common.words")

local read = values.read

-- One number for each frequency.
function read.frequencies(say, field, value)
  if type(value) ~= "table" or #value == 0 or #value > 128 then
    return say(field.key, "a list of numbers, one a frequency, is expected")
  end
  return values.members(say, field.key, value, function(_, key, number)
    return read.number(say, { key = key, min = 1e-6, max = 1e6 }, number) or 1.0
  end)
end

-- A number that may be missing if it has a default.
local function number(min, max, default)
  return { type = "number", min = min, max = max, default = default, required = default == nil }
end

local frequencies = { type = "frequencies", required = true, meaning = "a list of numbers, one a frequency" }
local trained = words.merged(number(1, 1 << 30), { meaning = "the most positions that the model was trained with" })
local types = {
  linear = { factor = number(1e-3, 1e6) },
  proportional = { rotated = { type = "integer", min = 0, max = 512, required = true,
    meaning = "the dimensions of a head that rotate" }, factor = number(1e-3, 1e6, 1.0) },
  dynamic = { factor = number(1, 1e6), max_position = number(1, 1 << 30), longest = number(0, 1 << 30, 0.0) },
  llama3 = { factor = number(1e-3, 1e6), low_freq_factor = number(1e-6, 1e6), high_freq_factor = number(1e-6, 1e6),
    original = trained },
  yarn = { factor = number(1e-3, 1e6), original = trained, beta_fast = number(1e-3, 1e6, 32.0),
    beta_slow = number(1e-3, 1e6, 1.0), attention_factor = number(1e-6, 1e6, 0.0),
    query_beta = number(0, 1e3, 0.0), truncate = { type = "boolean", default = true } },
  longrope = { short_factor = frequencies, long_factor = frequencies, original = trained,
    attention_factor = number(1e-6, 1e6, 0.0) },
}

return function(say, field, value)
  if value == false then return false end
  if type(value) ~= "table" then
    return say(field.key, values.show(value)
      .. ", but false or a table such as { type = \"linear\", factor = 2 } is allowed")
  end
  local fields, given = types[value.type], words.merged(value)
  if not fields then
    return say(field.key .. ".type", "%s, but %s is allowed", values.show(value.type),
      values.one_of(words.sorted_keys(types)))
  end
  given.type = nil
  local result = values.fields(say, field.key, given, fields, value.type)
  result.type = value.type
  return result
end
