-- speech.lua: reads the key `speech` of a description: the special tokens of a model that writes down speech.
local values = require("passes.validate.values")
local words = require("common.words")

local speech, read = {}, values.read

local MOST_TOKENS = (1 << 20) - 1

function read.language_code(say, field, value)
  if type(value) == "string" and value:find("^[%l_]+$") and #value <= 16 then return value end
  return say(field.key, values.show(value) .. ', but the code of a language such as "en" is allowed')
end

function read.languages(say, field, value)
  if type(value) ~= "table" or next(value) == nil then
    return say(field.key, values.show(value) .. ", but the tokens of languages such as { en = 50259 } are allowed")
  end
  return words.map(words.sorted_keys(value), function(code)
    local key = ("%s.%s"):format(field.key, tostring(code):sub(1, 20))
    read.language_code(say, { key = key }, code)
    return { code = code,
      token = read.integer(say, { key = key, min = 0, max = MOST_TOKENS }, value[code]) }
  end)
end

function read.heads(say, field, value)
  local list = {}
  for i, each in ipairs(type(value) == "table" and value or {}) do
    local layer, head = table.unpack(type(each) == "table" and each or {})
    if math.type(layer) ~= "integer" or math.type(head) ~= "integer" then list = {} break end
    list[i] = { layer, head }
  end
  if #list > 0 then return list end
  return say(field.key, values.show(value) .. ", but layers and heads such as { { 3, 1 }, { 4, 2 } } are allowed")
end

local optional = { type = "integer", min = 0, max = MOST_TOKENS }
local required = words.merged(optional, { required = true, meaning = "a token id" })

local read_tokens = values.table_reader({
  no_timestamps = required, previous = required, no_speech = required, transcribe = optional, translate = optional,
  initial = optional, compression = { type = "number", min = 0, max = 1000 },
  score = { type = "number", min = -1000, max = 0 }, silence = { type = "number", min = 0, max = 1 },
  goes_on = { type = "boolean" }, languages = { type = "languages" }, language = { type = "language_code" },
  task = { type = "word", words = { "transcribe", "translate" } }, words = { type = "boolean" },
  heads = { type = "heads" }, median = { type = "integer", min = 1, max = 31 },
}, "{ no_timestamps = 50363 }", true)

--- Reads the key: a table of tokens; {} for a plain model, which has none; false for false.
function speech.reader(say, field, value)
  if type(value) == "table" and next(value) == nil then return {} end
  return read_tokens(say, field, value)
end

-- Checks that a field is below the number of tokens.
local function check_token(say, spec, key, token)
  if token and token >= spec.input.vocab then
    say("speech." .. key, "%d, but the model's tokens are 0 to %d", token, spec.input.vocab - 1)
  end
end

-- Checks that tokens go with windows of frames, and that without them the encoder reads the rows of any sound.
local function check_kind(say, given, stage, is_open, sound)
  local is_plain = next(given) == nil
  for _, key in ipairs { "samples", "rows" } do
    if is_plain and sound and sound[key] then
      say("sound." .. key, "%d, but with speech = {} sounds have any length", sound[key])
    end
  end
  if is_plain and (stage == "frames" or not is_open) then
    say("speech", "{} goes with an encoder of seq = any(N) and input = hidden()")
  elseif not is_plain and stage ~= "frames" then
    say("speech", "has tokens, which go with input = frames { ... }; {} goes with hidden()")
  end
end

-- Checks the heads that say when words are spoken, or takes all heads of the upper half of the layers.
local function check_words(say, spec, given)
  if given.median and given.median % 2 == 0 then say("speech.median", "is even, but an odd number is allowed") end
  for i, each in ipairs(given.heads or {}) do
    local layer, head = each[1], each[2]
    if layer < 0 or layer >= spec.layers or head < 0 or head >= spec.heads then
      say("speech.heads." .. i, "layer %d, head %d, but layers 0 to %d have heads 0 to %d", layer, head,
        spec.layers - 1, spec.heads - 1)
    end
  end
  if not given.words then return end
  if given.heads == nil then
    given.heads = {}
    for layer = spec.layers // 2, spec.layers - 1 do
      for head = 0, spec.heads - 1 do table.insert(given.heads, { layer, head }) end
    end
  end
  given.layers = {}
  for _, each in ipairs(given.heads) do given.layers[each[1]] = true end
end

--- Checks that the key fits the model.
function speech.check(say, spec)
  local given, memory = spec.speech, spec.memory
  if not given then return end
  local stage = memory and memory.encoder and memory.encoder.input.stage
  if not (spec.context and (stage == "frames" or stage == "hidden")) then
    return say("speech", "goes with a context and memory = encoder { input = frames { ... } or hidden() }")
  end
  check_kind(say, given, stage, memory.any, spec.sound)
  if not spec.tokenizer then say("speech", "goes with a tokenizer") end
  local said = spec.generation or {}
  if not (said.start and #said.start == 1) then say("generation.start", "one token is needed with speech") end
  if not (said.stop and #said.stop == 1) then say("generation.stop", "one token is needed with speech") end
  check_words(say, spec, given)
  if not spec.input.vocab then return end
  for _, name in ipairs { "previous", "no_speech", "transcribe", "translate" } do
    check_token(say, spec, name, given[name])
  end
  check_token(say, spec, "no_timestamps", given.no_timestamps and given.no_timestamps + 1)
  local has_language = given.language == nil
  for _, each in ipairs(given.languages or {}) do
    check_token(say, spec, "languages." .. each.code, each.token)
    has_language = has_language or each.code == given.language
  end
  if not has_language then say("speech.language", "is none of speech.languages") end
  if given.task and not given[given.task] then say("speech.task", "has no token") end
  if given.languages and not given.transcribe then say("speech.transcribe", "missing: goes with languages") end
end

return speech
