-- ctc.lua: reads what the scores of a CTC model mean: the files of transformers' Wav2Vec2CTCTokenizer.
-- Its decode keeps special tokens, but for the blank, which is its pad_token.
local json = require("common.json")
local words = require("common.words")

local ctc = {}

local MOST_TOKENS, MOST_KEYS = 16000, 1000 -- of labels in parts, and members that a table of a description may have

-- Returns a text of an object, which may be the content of a token; nil if it has none.
local function text_of(config, key)
  local value = config[key]
  if type(value) == "table" and value ~= json.null then value = value.content end
  return type(value) == "string" and value or nil
end

-- Special tokens, in the order in which transformers gives ids to those that have none, and the usual ones.
local SPECIAL = { "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
  "word_delimiter_token" }
local USUAL = { bos_token = "<s>", eos_token = "</s>", unk_token = "<unk>", pad_token = "<pad>",
  word_delimiter_token = "|" }

-- Returns the text of each id: of the vocabulary, else of an added token. decoder: the added tokens of
-- tokenizer_config.json, or nil; added: the ids of those of added_tokens.json; special(key): the text of a special one.
local function texts_of(vocabulary, decoder, added, special)
  local texts, known, count = {}, {}, 0
  local function add(text, id)
    if not known[text] then known[text], count = true, count + 1 end
    texts[id] = text
  end
  for _, text in ipairs(words.sorted_keys(vocabulary)) do
    if math.type(vocabulary[text]) == "integer" then add(text, vocabulary[text]) end
  end
  local own = words.merged(texts)
  for id, token in pairs(decoder or {}) do
    local text = type(token) == "table" and text_of(token, "content")
    if text and tonumber(id) then add(text, tonumber(id)) end
  end
  for _, text in ipairs(words.sorted_keys(added)) do
    if math.type(added[text]) == "integer" then add(text, added[text]) end
  end
  for _, key in ipairs(SPECIAL) do
    local text = special(key)
    if text and text ~= "" and not known[text] then add(text, count) end
  end
  return words.merged(texts, own)
end

--- Returns the keys `labels` and `ctc` of a description, for rows of `width` scores; or nil, with a note if the
--- folder's tokenizer is not supported. read: returns the object of a file of the folder, or nil.
function ctc.of(read, config, width, notes)
  local function refuse(what) notes[#notes + 1] = what .. ": the model gives scores, and no text" end
  local vocabulary = read("vocab.json")
  if not vocabulary then return refuse("vocab.json: is missing") end
  config = config or {}
  local class = config.tokenizer_class
  if class and class ~= json.null and class ~= "Wav2Vec2CTCTokenizer" then
    return refuse(("tokenizer_config.json: tokenizer_class: %s is not supported"):format(json.shown(class)))
  end
  if type(config.target_lang) == "string" then
    local own = vocabulary[config.target_lang]
    if json.kind(own) ~= "object" then
      return refuse(("tokenizer_config.json: target_lang: vocab.json has no tokens of %s"):format(
        json.shown(config.target_lang)))
    end
    vocabulary = own
  end
  -- Files with added_tokens_decoder have all tokens in one place. Otherwise those of older versions count.
  local decoder = json.kind(config.added_tokens_decoder) == "object" and config.added_tokens_decoder or nil
  local map = not decoder and read("special_tokens_map.json") or {}
  local function special(key)
    for _, from in ipairs { map, config } do
      if from[key] ~= nil then return from[key] ~= json.null and text_of(from, key) or nil end
    end
    return USUAL[key]
  end
  local texts = texts_of(vocabulary, decoder, not decoder and read("added_tokens.json") or {}, special)
  local labels, blank = {}, nil
  local pad, unknown = special("pad_token"), special("unk_token") or ""
  for i = 1, width do
    labels[i] = texts[i - 1] or unknown
    if texts[i - 1] == pad then blank = blank or i - 1 end
  end
  local lower = config.do_lower_case == true or nil
  if lower and words.any(labels, function(label) return label:find("[\xC3-\xD6]") end) then
    notes[#notes + 1] = "tokenizer_config.json: do_lower_case: only A to Z become small letters in texts"
  end
  if not blank then return refuse(("pad_token: %s is no token of vocab.json"):format(json.shown(pad))) end
  if width > MOST_TOKENS then
    return refuse(("vocab.json: %d tokens, but at most %d are supported"):format(width, MOST_TOKENS))
  end
  local space, parts = config.replace_word_delimiter_char, {}
  for i = 1, width > MOST_KEYS and width or 0, MOST_KEYS do
    parts[#parts + 1] = table.move(labels, i, math.min(i + MOST_KEYS - 1, width), 1, {})
  end
  return parts[1] and parts or labels, { blank = blank, delimiter = special("word_delimiter_token"),
    space = type(space) == "string" and space or nil, lower = lower,
    clean = config.clean_up_tokenization_spaces == true or nil }
end

return ctc
