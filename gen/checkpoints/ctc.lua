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

-- Capitals and their small letters: { first, last, distance }, or in pairs { first, last } of a capital and its small
-- letter. Letters of Latin, Greek, Cyrillic and Armenian; the others of these scripts are no capitals.
local CAPITALS = { { 0xC0, 0xD6, 32 }, { 0xD8, 0xDE, 32 }, { 0x100, 0x12F }, { 0x132, 0x137 },
  { 0x139, 0x148, odd = true }, { 0x14A, 0x177 }, { 0x178, 0x178, -121 }, { 0x179, 0x17E, odd = true },
  { 0x386, 0x386, 38 }, { 0x388, 0x38A, 37 }, { 0x38C, 0x38C, 64 }, { 0x38E, 0x38F, 63 }, { 0x391, 0x3A1, 32 },
  { 0x3A4, 0x3AB, 32 }, { 0x400, 0x40F, 80 }, { 0x410, 0x42F, 32 }, { 0x460, 0x481 }, { 0x48A, 0x4BF },
  { 0x4C0, 0x4C0, 15 }, { 0x4C1, 0x4CE, odd = true }, { 0x4D0, 0x52F }, { 0x531, 0x556, 48 }, { 0x1E00, 0x1E95 },
  { 0x1EA0, 0x1EFF } }

-- Code points whose small letters are known, or that have none. The small letter of sigma depends on its place.
local KNOWN = { { 0, 0x12F }, { 0x131, 0x17F }, { 0x384, 0x3A1 }, { 0x3A4, 0x3CE }, { 0x400, 0x52F }, { 0x531, 0x109F },
  { 0x1100, 0x139F }, { 0x1400, 0x1C7F }, { 0x1E00, 0x1E95 }, { 0x1EA0, 0x1EFF }, { 0x2000, 0x20FF },
  { 0x2E80, 0xA63F }, { 0xAC00, 0xD7FF }, { 0xF900, 0xFAFF } }

local function is_in(range, point) return point >= range[1] and point <= range[2] end

-- Returns a text whose letters beyond ASCII are small, and false if it has characters that are not known.
local function lowered(text)
  local points, all_known = {}, utf8.len(text) ~= nil
  if not all_known then return text, false end
  for _, point in utf8.codes(text) do
    all_known = all_known and words.any(KNOWN, function(range) return is_in(range, point) end)
    for _, range in ipairs(CAPITALS) do
      if is_in(range, point) then
        point = point + (range[3] or point % 2 == (range.odd and 1 or 0) and 1 or 0)
        break
      end
    end
    points[#points + 1] = utf8.char(point)
  end
  return table.concat(points), all_known
end

-- Returns labels with small letters, or nil if some are not known, or two labels would be one.
local function all_lowered(labels)
  local result, first = {}, {}
  for i, label in ipairs(labels) do
    local small, is_known = lowered(label)
    if not is_known or (first[small] or label) ~= label then return nil end
    result[i], first[small] = small, label
  end
  return result
end

-- Returns the text of each id: of the vocabulary, else of an added token. decoder: the added tokens of
-- tokenizer_config.json, or nil; added: the ids in added_tokens.json; special(key): the text of a special token.
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
  -- tokenizer_config.json with added_tokens_decoder has all tokens. Otherwise the files of older versions count.
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
  local delimiter = special("word_delimiter_token")
  local small = lower and (not delimiter or lowered(delimiter) == delimiter) and all_lowered(labels)
  if lower and not small then
    notes[#notes + 1] = "tokenizer_config.json: do_lower_case: only A to Z become small letters in texts"
  end
  if not blank then return refuse(("pad_token: %s is no token of vocab.json"):format(json.shown(pad))) end
  if width > MOST_TOKENS then
    return refuse(("vocab.json: %d tokens, but at most %d are supported"):format(width, MOST_TOKENS))
  end
  local space, parts = config.replace_word_delimiter_char, {}
  labels = small or labels
  for i = 1, width > MOST_KEYS and width or 0, MOST_KEYS do
    parts[#parts + 1] = table.move(labels, i, math.min(i + MOST_KEYS - 1, width), 1, {})
  end
  return parts[1] and parts or labels, { blank = blank, delimiter = delimiter,
    space = type(space) == "string" and space or nil, lower = lower,
    clean = config.clean_up_tokenization_spaces == true or nil }
end

return ctc
