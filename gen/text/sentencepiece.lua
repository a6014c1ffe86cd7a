-- sentencepiece.lua: makes the equivalent tokenizer.json of a SentencePiece model whose class of transformers has steps
-- of its own. These are SigLIP's, whose published folders may have spiece.model alone.
-- The file is a message of Protocol Buffers: pieces with scores, and how texts are normalised.
local base64 = require("text.base64")
local faults = require("common.faults")
local files = require("common.files")
local json = require("common.json")
local kinds = require("common.kinds")
local lfs = require("lfs")
local words = require("common.words")

local sentencepiece = {}

local BLANK = "▁"

-- Numbers of the fields that are read, and of the kinds of values.
local MODEL = { pieces = 1, trainer = 2, normalizer = 3 }
local PIECE = { text = 1, score = 2 }
local TRAINER = { kind = 3 }
local NORMALIZER = { map = 2, collapses = 4 }
local VARINT, WORD64, BYTES, WORD32 = 0, 1, 2, 5
local UNIGRAM = 1

local function object(value) return setmetatable(value, { __jsontype = "object" }) end
local function array(value) return setmetatable(value, { __jsontype = "array" }) end

-- Returns a number in groups of 7 bits, and the place after it, or nil at the end of the text.
local function varint(text, at)
  local value, shift = 0, 0
  repeat
    local byte = text:byte(at)
    if not byte or shift > 63 then return nil end
    value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
  until byte < 128
  return value, at
end

-- Calls visit(field, value) for each field of a message. Values are numbers, or texts of bytes. Returns false if the
-- text is no message.
local function each_field(text, visit)
  local at = 1
  while at <= #text do
    local key, value
    key, at = varint(text, at)
    local kind = key and key & 7
    if kind == VARINT then
      value, at = varint(text, at)
      if not value then return false end
    elseif kind == BYTES then
      local size
      size, at = varint(text, at)
      if not size or size < 0 or size > #text - at + 1 then return false end
      value, at = text:sub(at, at + size - 1), at + size
    elseif kind == WORD32 or kind == WORD64 then
      local size = kind == WORD32 and 4 or 8
      if at + size - 1 > #text then return false end
      value, at = string.unpack(kind == WORD32 and "<f" or "<d", text, at), at + size
    else
      return false
    end
    visit(key >> 3, value)
  end
  return true
end

-- Returns the last value of each of a message's fields, by the names in `fields`; nil if the text is no message.
local function read(text, fields)
  local found = {}
  local is_whole = type(text) == "string" and each_field(text, function(number, value)
    for name, each in pairs(fields) do if each == number then found[name] = value end end
  end)
  return is_whole and found or nil
end

-- Returns { vocab: list of { piece, score }, map: of characters, or "", collapses: whether several spaces become one }.
local function model_of(text, path)
  local function refuse(what) faults.raise("format", ("%s: %s"):format(path, what)) end
  local vocab, trainer, normalizer, is_right = array {}, "", "", true
  local is_whole = each_field(text, function(number, value)
    if number == MODEL.pieces then
      local piece = read(value, PIECE)
      is_right = is_right and piece ~= nil and type(piece.text) == "string" and utf8.len(piece.text) ~= nil
        and (piece.score == nil or math.type(piece.score) == "float")
      if is_right then vocab[#vocab + 1] = array { piece.text, piece.score or 0.0 } end
    elseif number == MODEL.trainer then
      trainer = value
    elseif number == MODEL.normalizer then
      normalizer = value
    end
  end)
  local trained, normal = read(trainer, TRAINER), read(normalizer, NORMALIZER)
  if not is_whole or not is_right or not trained or not normal or #vocab == 0 then
    refuse("is not a model of SentencePiece, or is cut off")
  end
  if (trained.kind or UNIGRAM) ~= UNIGRAM then refuse("is not a unigram model; others are not supported") end
  if type(normal.map or "") ~= "string" then refuse("its map of characters is not bytes") end
  return { vocab = vocab, map = normal.map or "", collapses = normal.collapses ~= 0 }
end

local function replaced(pattern, content) return object { type = "Replace", pattern = object(pattern),
  content = content } end

-- Returns the steps of SiglipTokenizer before the model: a blank is put before the text, then small letters, no
-- punctuation of ASCII, and single spaces; then SentencePiece's own, which removes blanks at the end.
local function normalizer_of(model, lowers)
  local list = array { replaced({ String = BLANK }, " "), object { type = "Prepend", prepend = BLANK } }
  if lowers then list[#list + 1] = object { type = "Lowercase" } end
  list[#list + 1] = replaced({ Regex = "[!-/:-@\\[-`{-~]" }, "")
  list[#list + 1] = replaced({ Regex = "[\\s\\x1c-\\x1f]+" }, " ")
  list[#list + 1] = object { type = "Strip", strip_left = true, strip_right = true }
  if model.map ~= "" then
    list[#list + 1] = object { type = "Precompiled", precompiled_charsmap = base64.encode(model.map) }
  end
  if model.collapses then
    list[#list + 1] = replaced({ Regex = " {2,}" }, " ")
    list[#list + 1] = replaced({ Regex = "[ " .. BLANK .. "]+$" }, "")
  end
  return object { type = "Sequence", normalizers = list }
end

-- Returns a special token's text, and its entry in tokenizer_config.json, or an empty table.
local function named(config, key)
  local given = json.kind(config[key]) == "object" and config[key] or {}
  return given.content or config[key], given
end

-- Returns the tokens that a text may contain as they are, in the order of their ids.
local function added_of(config, ids)
  local list, seen = array {}, {}
  local function add(content, id, given)
    if type(content) ~= "string" or not id or seen[content] then return end
    seen[content] = true
    list[#list + 1] = object { id = id, content = content, lstrip = given.lstrip ~= false,
      rstrip = given.rstrip ~= false, single_word = given.single_word == true, normalized = given.normalized == true,
      special = given.special ~= false }
  end
  local decoder = json.kind(config.added_tokens_decoder) == "object" and config.added_tokens_decoder or {}
  for _, key in ipairs(words.sorted_keys(decoder)) do
    local given = decoder[key]
    if json.kind(given) == "object" then add(given.content, math.tointeger(tonumber(key)), given) end
  end
  for _, key in ipairs { "eos_token", "pad_token", "unk_token" } do
    local content, given = named(config, key)
    add(content, ids[content], given)
  end
  table.sort(list, function(one, other) return one.id < other.id end)
  return list
end

local FILE = "/spiece.model"
local DEFAULTS = { eos_token = "</s>", pad_token = "</s>", unk_token = "<unk>" }

--- True if a folder has a spiece.model that transformers reads with SigLIP's class. config: tokenizer_config.json, or
--- nil; model: config.json, or nil.
function sentencepiece.is_in(folder, config, model)
  if lfs.attributes(folder .. FILE, "mode") ~= "file" then return false end
  local class = json.kind(config) == "object" and config.tokenizer_class
  if class then return class == "SiglipTokenizer" end
  return json.kind(model) == "object" and model.model_type == "siglip"
end

--- Returns the equivalent tokenizer.json of a folder's spiece.model, the file's path, and the given
--- tokenizer_config.json with the class's own special tokens. Faults: format, io.
function sentencepiece.read(folder, config)
  config = json.kind(config) == "object" and config or {}
  for key, content in pairs(DEFAULTS) do if config[key] == nil then config[key] = content end end
  local path = folder .. FILE
  local said, text = kinds.said_of_file(path, "sentencepiece"), files.read(path)
  if said then faults.raise("format", ("%s: %s"):format(path, said)) end
  if not text then faults.raise("io", path .. ": cannot be read") end
  local model, ids = model_of(text, path), {}
  for i, piece in ipairs(model.vocab) do ids[piece[1]] = i - 1 end
  local unknown = named(config, "unk_token")
  local stop = named(config, "eos_token")
  for _, name in ipairs { unknown, stop } do
    if not ids[name] then faults.raise("format", ("%s: has no %s"):format(path, faults.quote(tostring(name)))) end
  end
  local metaspace = object { type = "Metaspace", replacement = BLANK, prepend_scheme = "never", split = true }
  local function sequence(which) return object { Sequence = object { id = which, type_id = 0 } } end
  local function stopped() return object { SpecialToken = object { id = stop, type_id = 0 } } end
  return object {
    added_tokens = added_of(config, ids),
    normalizer = normalizer_of(model, config.do_lower_case ~= false),
    pre_tokenizer = metaspace, decoder = metaspace,
    post_processor = object { type = "TemplateProcessing", single = array { sequence("A"), stopped() },
      pair = array { sequence("A"), stopped(), sequence("B"), stopped() },
      special_tokens = object { [stop] = object { id = stop, ids = array { ids[stop] }, tokens = array { stop } } } },
    model = object { type = "Unigram", vocab = model.vocab, unk_id = ids[unknown] },
  }, path, config
end

return sentencepiece
