-- generation.lua: reads what a folder says about generating text: generation_config.json, else config.json.
-- A value that is out of range, or a key that is not supported and not off, gets a note and is left out.
local json = require("common.json")
local known_keys = require("common.known")
local words = require("common.words")

local generation = {}

local function is_number(value) return type(value) == "number" and value == value and value < math.huge end
local function from_0_to_1(value) return is_number(value) and value >= 0 and value <= 1 end
local function positive(value) return is_number(value) and value >= 1.18e-38 and value <= 3.4e38 end
local function count(value) return math.type(value) == "integer" and value >= 0 and value < 1 << 31 end

-- transformers' key -> the field of a description's `generation`, whether a value is allowed, and the usual value,
-- which is left out.
local keys = {
  do_sample = { "draw", function(value) return type(value) == "boolean" end, false },
  temperature = { "temperature", positive, 1 },
  top_k = { "top_k", count, 50 },
  top_p = { "top_p", from_0_to_1, 1 },
  min_p = { "min_p", from_0_to_1, 0 },
  repetition_penalty = { "repetition_penalty", positive, 1 },
  max_new_tokens = { "tokens", function(value) return count(value) and value > 0 end },
  max_length = { "length", function(value) return count(value) and value > 1 end },
}

-- Returns the ids of eos_token_id, an integer or a list, or nil. vocab: the number of the model's tokens.
local function stops_of(value, vocab)
  local list = {}
  for i, id in ipairs(type(value) == "table" and value or { value }) do
    if not count(id) or id >= vocab then return nil end
    list[i] = id
  end
  return #list > 0 and list or nil
end

local SECTIONS = { "generation_config.json" }

-- Returns the keys of config.json that generation_config.json may have: transformers reads them if that is missing.
local function of_generation(config)
  local result = setmetatable({}, getmetatable(config))
  for key, value in pairs(config) do if known_keys.entry(key, SECTIONS) then result[key] = value end end
  return result
end

--- Returns the description's `generation`, or nil if the folder says nothing. `draw` is there if the folder says
--- anything about choosing a token; otherwise a model has defaults of its own (passes/emit/generation.lua).
--- stated: the object of generation_config.json, or nil; config: that of config.json. vocab: the number of the model's
--- tokens. notes: gets a line for what is left out. file: the name in it of what is stated; nil: as above.
function generation.of(stated, config, vocab, notes, file)
  local result = {}
  file = stated and (file or "generation_config.json") or "config.json"
  local from = stated or of_generation(config)
  local function note(key, what) notes[#notes + 1] = ("%s: %s: %s"):format(file, key, what) end
  for _, key in ipairs(words.sorted_keys(from)) do
    local value, known = from[key], keys[key]
    if known and value ~= json.null and not known[2](value) then
      note(key, json.shown(value) .. " is not supported, and is left out")
    elseif known and value ~= json.null then
      if value ~= known[3] then result[known[1]] = value end
      if known[3] ~= nil then result.draw = result.draw or false end
    end
  end
  if result.tokens then result.length = nil end
  known_keys.check(from, file, SECTIONS, notes)
  if from.eos_token_id ~= nil and from.eos_token_id ~= json.null then
    result.stop = stops_of(from.eos_token_id, vocab)
    if not result.stop then
      note("eos_token_id", ("not a token id below %d or a list of them, and left out"):format(vocab))
    end
  end
  return next(result) and result or nil
end

return generation
