-- generation.lua: reads what a folder says about generating text: generation_config.json, else config.json.
-- A value that is out of range, or a key that is not supported and not off, gets a note and is left out.
local json = require("common.json")
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
}

-- Keys that change which tokens come, and the values that switch them off.
local others = {
  num_beams = { 1 }, num_beam_groups = { 1 }, penalty_alpha = {}, typical_p = { 1 }, epsilon_cutoff = { 0 },
  eta_cutoff = { 0 }, no_repeat_ngram_size = { 0 }, encoder_no_repeat_ngram_size = { 0 },
  encoder_repetition_penalty = { 1 }, bad_words_ids = {}, suppress_tokens = {}, begin_suppress_tokens = {},
  sequence_bias = {}, forced_bos_token_id = {}, forced_eos_token_id = {}, min_length = { 0 }, min_new_tokens = { 0 },
  exponential_decay_length_penalty = {}, guidance_scale = { 1 }, dola_layers = {}, watermarking_config = {},
  top_h = {}, stop_strings = {},
  xtc_probability = { 0 }, mirostat = { 0 }, penalty_last_n = { -1 }, -- of a GGUF file
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

local function is_off(value, off)
  if value == nil or value == json.null or (type(value) == "table" and next(value) == nil) then return true end
  for _, each in ipairs(off) do if value == each then return true end end
  return false
end

--- Returns the description's `generation`, or nil if the folder says nothing. `draw` is there if the folder says
--- anything about choosing a token; otherwise a model has defaults of its own (passes/emit/generation.lua).
--- stated: the object of generation_config.json, or nil; config: that of config.json. vocab: the number of the model's
--- tokens. notes: gets a line for what is left out. file: the name of what is stated in it; nil: as above.
function generation.of(stated, config, vocab, notes, file)
  local result = {}
  file = file or stated and "generation_config.json" or "config.json"
  local from = stated or { eos_token_id = config.eos_token_id }
  local function note(key, what) notes[#notes + 1] = ("%s: %s: %s"):format(file, key, what) end
  for _, key in ipairs(words.sorted_keys(from)) do
    local value, known = from[key], keys[key]
    if known and value ~= json.null and not known[2](value) then
      note(key, json.shown(value) .. " is not supported, and is left out")
    elseif known and value ~= json.null then
      if value ~= known[3] then result[known[1]] = value end
      if known[3] ~= nil then result.draw = result.draw or false end
    elseif others[key] and not is_off(value, others[key]) then
      note(key, "not supported, and left out: generated texts differ from transformers'")
    end
  end
  if from.eos_token_id ~= nil and from.eos_token_id ~= json.null then
    result.stop = stops_of(from.eos_token_id, vocab)
    if not result.stop then
      note("eos_token_id", ("not a token id below %d or a list of them, and left out"):format(vocab))
    end
  end
  return next(result) and result or nil
end

return generation
