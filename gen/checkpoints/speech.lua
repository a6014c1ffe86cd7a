-- speech.lua: reads what a folder says about writing down speech: special tokens of generation_config.json.
local faults = require("common.faults")
local json = require("common.json")
local known_languages = require("data.languages")

local speech = {}

local FILE = "generation_config.json: "

-- Returns a number from `least` to `most`, or nil if it is missing. is_integer: an integer. Faults: format.
local function number_of(from, key, least, most, is_integer)
  local value = json.given(from, key)
  local fits = type(value) == "number" and value >= least and value <= most
  if value == nil or fits and (not is_integer or math.type(value) == "integer") then return value end
  faults.raise("format", "%s%s: %s, but %s from %s to %s is expected", FILE, key, json.shown(value),
    is_integer and "an integer" or "a number", least, most)
end

-- Returns an integer, likewise.
local function integer_of(from, key, least, most) return number_of(from, key, least, most, true) end

-- Returns true or false, or nil if it is missing. Faults: format.
local function flag_of(from, key)
  local value = json.given(from, key)
  if value == nil or type(value) == "boolean" then return value end
  faults.raise("format", "%s%s: %s, but true or false is expected", FILE, key, json.shown(value))
end

-- Returns the language and the task that the list of forced tokens names, [[1, 50259], [2, 50359], [3, 50363]]; null is
-- no token. Faults: format; usage for other tokens.
local function forced_of(stated, languages, tasks, without)
  local list, named, language, task = json.given(stated, "forced_decoder_ids"), {}, nil, nil
  if list == nil then return nil, nil end
  for code, token in pairs(languages) do named[token] = function() language = code end end
  for word, token in pairs(tasks) do named[token] = function() task = word end end
  named[without] = function() end -- an option says that
  for _, pair in ipairs(type(list) == "table" and list or { list }) do
    local token = type(pair) == "table" and pair[2]
    if not (token and math.type(pair[1]) == "integer" and (token == json.null or math.type(token) == "integer")) then
      faults.raise("format", "%sforced_decoder_ids: %s, but pairs of a place and a token are expected", FILE,
        json.shown(list))
    end
    if token ~= json.null and not named[token] then
      faults.raise("usage", "%sforced_decoder_ids: %d is not supported: it is no language, no task and not "
        .. "no_timestamps_token_id", FILE, token)
    end
    if token ~= json.null then named[token]() end
  end
  return language, task
end

-- Returns the members of an object of token ids, by what `name` makes of their names; {} if it is missing.
local function ids_of(from, key, vocab, name)
  local value, result = json.given(from, key, {}), {}
  if type(value) ~= "table" then
    faults.raise("format", "%s%s: %s, but an object is expected", FILE, key, json.shown(value))
  end
  for word in pairs(value) do
    local made = type(word) == "string" and name(word)
    if made then result[made] = integer_of(value, word, 0, vocab - 1) end
  end
  return result
end

-- Returns the heads [[layer, head], ...] that say when words are spoken, or nil. Faults: format.
local function heads_of(stated)
  local list = stated.alignment_heads
  if list == nil or list == json.null then return nil end
  local is_list = type(list) == "table" and #list > 0
  for _, each in ipairs(is_list and list or {}) do
    is_list = is_list and type(each) == "table" and #each == 2 and math.type(each[1]) == "integer"
      and math.type(each[2]) == "integer"
  end
  if is_list then return list end
  faults.raise("format", "%salignment_heads: %s, but pairs of a layer and a head are expected", FILE, json.shown(list))
end

--- Returns the description's `speech`, or nil without the token before timestamps. stated: the object of
--- generation_config.json, or nil; vocab: the number of the model's tokens; median: the width of the filter of the
--- times of words, or nil. Faults: format.
function speech.of(stated, vocab, notes, median)
  local without = stated and integer_of(stated, "no_timestamps_token_id", 2, vocab - 2)
  if not without then
    notes[#notes + 1] = FILE .. "no_timestamps_token_id: missing: the model is built without commands for speech"
    return nil
  end
  local tasks = ids_of(stated, "task_to_id", vocab, function(word) return word end)
  local languages = ids_of(stated, "lang_to_id", vocab, function(word) return word:match("^<|([%l_]+)|>$") end)
  local language, task = json.given(stated, "language"), json.given(stated, "task")
  local is_english = stated.is_multilingual == false
  if is_english or not next(languages) then tasks, languages = {}, {} end
  language = type(language) == "string" and known_languages.code(language) or language
  for key, each in pairs { language = { language, is_english and { en = true } or languages },
    task = { task, is_english and { transcribe = true } or tasks } } do
    if each[1] ~= nil and not each[2][each[1]] then
      faults.raise("usage", "%s%s: %s is none of the model's", FILE, key, json.shown(stated[key]))
    end
  end
  if is_english then language, task = nil, nil end -- they have no tokens
  if language == nil and task == nil then language, task = forced_of(stated, languages, tasks, without) end
  return { no_timestamps = without,
    previous = integer_of(stated, "prev_sot_token_id", 0, vocab - 1) or without - 2, no_speech = without - 1,
    transcribe = tasks.transcribe, translate = tasks.translate,
    initial = integer_of(stated, "max_initial_timestamp_index", 0, vocab),
    compression = number_of(stated, "compression_ratio_threshold", 0, 1000),
    score = number_of(stated, "logprob_threshold", -1000, 0), silence = number_of(stated, "no_speech_threshold", 0, 1),
    goes_on = flag_of(stated, "condition_on_prev_tokens"),
    languages = next(languages) and languages or nil, language = language, task = task, heads = heads_of(stated),
    median = median }
end

return speech
