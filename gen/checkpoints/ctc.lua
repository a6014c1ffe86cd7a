-- ctc.lua: reads what the scores of a CTC model mean: the files of transformers' Wav2Vec2CTCTokenizer.
-- Its decode keeps special tokens, but for the blank, which is its pad_token.
local json = require("common.json")

local ctc = {}

local MOST_TOKENS, MOST_KEYS = 16000, 1000 -- of labels in parts, and members that a table of a description may have

-- Returns a text of an object, which may be the content of a token; nil if it has none.
local function text_of(config, key)
  local value = config[key]
  if type(value) == "table" and value ~= json.null then value = value.content end
  return type(value) == "string" and value or nil
end

local function texts_of(vocabulary, added, decoder)
  local texts = {}
  for id, token in pairs(type(decoder) == "table" and decoder or {}) do
    texts[tonumber(id) or -1] = type(token) == "table" and text_of(token, "content")
  end
  for _, ids in ipairs { added, vocabulary } do
    for text, id in pairs(ids) do if math.type(id) == "integer" then texts[id] = text end end
  end
  return texts
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
  local map = read("special_tokens_map.json") or {}
  local function special(key, default)
    if config[key] == json.null then return nil end
    return text_of(config, key) or text_of(map, key) or default
  end
  local texts = texts_of(vocabulary, read("added_tokens.json") or {}, config.added_tokens_decoder)
  local labels, blank = {}, nil
  local pad, unknown = special("pad_token", "<pad>"), special("unk_token", "<unk>") or ""
  for i = 1, width do
    labels[i] = texts[i - 1] or unknown
    if texts[i - 1] == pad then blank = blank or i - 1 end
  end
  if not blank then return refuse(("pad_token: %s is no token of vocab.json"):format(json.shown(pad))) end
  if width > MOST_TOKENS then
    return refuse(("vocab.json: %d tokens, but at most %d are supported"):format(width, MOST_TOKENS))
  end
  local space, parts = config.replace_word_delimiter_char, {}
  for i = 1, width > MOST_KEYS and width or 0, MOST_KEYS do
    parts[#parts + 1] = table.move(labels, i, math.min(i + MOST_KEYS - 1, width), 1, {})
  end
  return parts[1] and parts or labels, { blank = blank, delimiter = special("word_delimiter_token", "|"),
    space = type(space) == "string" and space or nil, lower = config.do_lower_case == true or nil,
    clean = config.clean_up_tokenization_spaces == true or nil }
end

return ctc
