-- rotary.lua: turns a configuration's rotary positions into the keys rope_theta, rope_scaling and rope_dim of a
-- description.
-- It reads the configurations of transformers 4 and 5.
local faults = require("common.faults")
local json = require("common.json")
local words = require("common.words")

local rotary = {}

local function refuse(kind, ...) faults.raise(kind, "config.json: rope: " .. faults.line(...)) end

-- type -> a function that returns the description's rope_scaling. Its arguments: a getter of numbers, the original
-- length, the longest length, the dictionary of config.json, and a head's width.
local kinds = {}

kinds["default"] = function() return nil end

-- transformers rounds down to pairs, the others of which stay.
function kinds.proportional(number, _, _, _, width)
  local factor = number("factor", 1)
  return { type = "proportional", rotated = 2 * math.floor(number("partial_rotary_factor", 1) * width // 2),
    factor = factor ~= 1 and factor or nil }
end

function kinds.linear(number) return { type = "linear", factor = number("factor") } end

function kinds.dynamic(number, _, longest)
  return { type = "dynamic", factor = number("factor"), max_position = longest }
end

function kinds.llama3(number, original)
  return { type = "llama3", factor = number("factor"), low_freq_factor = number("low_freq_factor"),
    high_freq_factor = number("high_freq_factor"), original = original }
end

function kinds.yarn(number, original, _, dictionary)
  local factor = number("factor")
  local scale, all = number("mscale", 0), number("mscale_all_dim", 0)
  local attention = number("attention_factor", 0)
  local function grown(m) return factor <= 1 and 1 or 0.1 * m * math.log(factor) + 1 end
  if attention == 0 and scale ~= 0 and all ~= 0 then attention = grown(scale) / grown(all) end
  local scaling = { type = "yarn", factor = factor, original = original, beta_fast = number("beta_fast", 32),
    beta_slow = number("beta_slow", 1), attention_factor = attention ~= 0 and attention or nil }
  if dictionary.truncate == false then scaling.truncate = false end
  return scaling
end

function kinds.longrope(number, original, longest, dictionary)
  local short, long = dictionary.short_factor, dictionary.long_factor
  if type(short) ~= "table" or type(long) ~= "table" then
    refuse("format", "short_factor and long_factor are expected")
  end
  local factor, attention = number("factor", longest / original), number("attention_factor", 0)
  if attention == 0 and factor > 1 then attention = math.sqrt(1 + math.log(factor) / math.log(original)) end
  return { type = "longrope", short_factor = short, long_factor = long, original = original,
    attention_factor = attention ~= 0 and attention or nil }
end

-- Returns the dimensions of a head that are rotated, or nil for all of them. transformers rounds down.
local function rotated(facts, partial, width)
  if partial == 1 then return nil end
  if not facts.partial then refuse("usage", "partial_rotary_factor is not supported") end
  local dim = math.floor(width * partial)
  if dim < 2 or dim % 2 ~= 0 or dim > width then
    refuse("usage", "partial_rotary_factor: it rotates %.0f of %d dimensions of a head, but an even number is "
      .. "expected", dim, width)
  end
  return dim ~= width and dim or nil
end

--- Returns rope_theta, rope_scaling and rope_dim for a configuration's facts; nil stands for no scaling and for all
--- dimensions. facts.partial: the fraction of a head's dimensions that is rotated, for families that have it;
--- facts.grows: true if queries grow with their position.
function rotary.of(facts)
  local dictionary = facts.rope_scaling and next(facts.rope_scaling) and facts.rope_scaling
    or facts.rope_parameters or {}
  local function number(key, default)
    local value = json.given(dictionary, key, default)
    if type(value) ~= "number" then refuse("format", key .. ": a number is expected") end
    return value
  end
  for _, key in ipairs(words.sorted_keys(dictionary)) do
    if json.kind(dictionary[key]) == "object" then
      refuse("usage", "%s: parameters by types of layers are not supported in this family", key)
    end
  end
  local word = dictionary.rope_type or dictionary.type or "default"
  local width = facts.head_dim or facts.d_model // facts.heads
  local dim = word ~= "proportional" and rotated(facts, number("partial_rotary_factor", facts.partial or 1), width)
    or nil
  if not kinds[word] then
    local list = words.sorted_keys(kinds)
    refuse("usage", "type %s is not supported; supported: %s", faults.quote(word), table.concat(list, ", "))
  end
  local theta = number("rope_theta", facts.rope_theta or 10000)
  local original = facts.original or number("original_max_position_embeddings", facts.longest)
  local scaling = kinds[word](number, original, facts.longest, dictionary, width)
  if facts.grows then
    if word ~= "yarn" then refuse("usage", "llama_4_scaling_beta: does not go with type %s", word) end
    scaling.query_beta = number("llama_4_scaling_beta")
  end
  return theta, scaling, dim
end

return rotary
