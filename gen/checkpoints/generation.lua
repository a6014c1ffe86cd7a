-- generation.lua: reads what a folder says about generating text: generation_config.json, else config.json.
-- A value that is out of range, or a key that is not supported and not off, gets a note and is left out. A search that
-- is not supported is refused.
local faults = require("common.faults")
local json = require("common.json")
local known_keys = require("common.known")
local words = require("common.words")

local generation = {}

local function is_number(value) return type(value) == "number" and value == value and value < math.huge end
local function from_0_to_1(value) return is_number(value) and value >= 0 and value <= 1 end
local function positive(value) return is_number(value) and value >= 1.18e-38 and value <= 3.4e38 end
local function count(value) return math.type(value) == "integer" and value >= 0 and value < 1 << 31 end
local function from_1(value) return count(value) and value > 0 end
local function flag(value) return type(value) == "boolean" end
local function penalty(value) return is_number(value) and value >= -8 and value <= 8 end
local function stops(value) return flag(value) or value == "never" end

-- transformers' key -> the field of `generation`, whether a value is allowed, and the usual value, which is left out.
local keys = {
  do_sample = { "draw", flag, false },
  temperature = { "temperature", positive, 1 },
  top_k = { "top_k", count, 50 },
  top_p = { "top_p", from_0_to_1, 1 },
  min_p = { "min_p", from_0_to_1, 0 },
  repetition_penalty = { "repetition_penalty", positive, 1 },
  num_beams = { "beams", from_1, 1 },
  length_penalty = { "length_penalty", penalty, 1 },
  early_stopping = { "early_stopping", stops, false },
  no_repeat_ngram_size = { "no_repeat_ngram", count, 0 },
  min_length = { "min_length", count, 0 },
  min_new_tokens = { "min_tokens", count, 0 },
  renormalize_logits = { "renormalize", flag, false },
  max_new_tokens = { "tokens", from_1 },
  max_length = { "length", function(value) return count(value) and value > 1 end },
}

-- Keys that say nothing about choosing a token: without others, a model has defaults of its own.
local without_choice = words.set { "length_penalty", "early_stopping", "min_length", "min_new_tokens",
  "renormalize_logits" }

-- Returns a list of ids below vocab, an integer or a list, or nil.
local function ids_of(value, vocab)
  local list = {}
  for i, id in ipairs(type(value) == "table" and value or { value }) do
    if not count(id) or id >= vocab then return nil end
    list[i] = id
  end
  return #list > 0 and list or nil
end

local function id_of(value, vocab) return count(value) and value < vocab and value or nil end

-- Returns lists of ids of bad_words_ids, or nil.
local function words_of(value, vocab)
  local list = {}
  for i, word in ipairs(type(value) == "table" and value or { value }) do
    list[i] = type(word) == "table" and ids_of(word, vocab) or nil
    if not list[i] then return nil end
  end
  return #list > 0 and list or nil
end

-- transformers' keys of token ids -> the field of `generation`, its reader, and what is allowed.
local IDS, LISTS = "not a token id below %d or a list of them", "not lists of token ids below %d"
local lists = {
  eos_token_id = { "stop", ids_of, IDS },
  forced_bos_token_id = { "forced_bos", id_of, "not a token id below %d" },
  forced_eos_token_id = { "forced_eos", ids_of, IDS },
  suppress_tokens = { "suppress", ids_of, IDS },
  begin_suppress_tokens = { "begin_suppress", ids_of, IDS },
  bad_words_ids = { "bad_words", words_of, LISTS },
}

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
  local from = words.merged(stated or of_generation(config))
  -- vLLM's words for the most probable token and for all tokens, with which transformers draws nothing.
  local is_certain = from.temperature == 0
  if is_certain then from.temperature = nil end
  if from.top_k == -1 then from.top_k = 0 end
  local function note(key, what) notes[#notes + 1] = ("%s: %s: %s"):format(file, key, what) end
  for _, key in ipairs(words.sorted_keys(from)) do
    local value, known = from[key], keys[key]
    if known and value ~= json.null and not known[2](value) then
      note(key, json.shown(value) .. " is not supported, and is left out")
    elseif known and value ~= json.null then
      if value ~= known[3] then result[known[1]] = value end
      if known[3] ~= nil and not without_choice[key] then result.draw = result.draw or false end
    end
  end
  -- Numbers of new tokens take the place of those that count the prompt, 0 too.
  if count(from.min_new_tokens) then result.min_length = nil end
  if result.tokens then result.length = nil end
  for _, each in ipairs { { "min_length", "length", "min_length", "max_length" },
    { "min_tokens", "tokens", "min_new_tokens", "max_new_tokens" } } do
    local least, most = result[each[1]], result[each[2]]
    if least and most and least > most then
      note(each[3], ("%d, but %s is %d, and answers end there"):format(least, each[4], most))
    end
  end
  known_keys.check(from, file, SECTIONS, notes)
  for _, key in ipairs(words.sorted_keys(lists)) do
    local value, known = from[key], lists[key]
    if value ~= nil and value ~= json.null and not (type(value) == "table" and next(value) == nil) then
      result[known[1]] = known[2](value, vocab)
      if not result[known[1]] then note(key, known[3]:format(vocab) .. ", and left out") end
    end
  end
  if is_certain then result.draw = false end
  if result.draw and (result.beams or 1) > 1 then
    faults.raise("usage", "%s: num_beams: %d with do_sample is not supported: beams that are drawn", file, result.beams)
  end
  return next(result) and result or nil
end

return generation
