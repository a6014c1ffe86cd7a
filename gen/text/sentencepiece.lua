-- sentencepiece.lua: reads a SentencePiece model (Protocol Buffers): pieces with scores, and how texts are normalised.
local faults = require("common.faults")

local sentencepiece = {}

-- Numbers of the fields that are read, and of the kinds of values.
local MODEL = { pieces = 1, trainer = 2, normalizer = 3 }
local PIECE = { text = 1, score = 2, kind = 3 }
local TRAINER = { kind = 3, suffixes = 24, falls_back = 35 }
local NORMALIZER = { map = 2, prefixes = 3, collapses = 4, escapes = 5 }
local VARINT, WORD64, BYTES, WORD32 = 0, 1, 2, 5

-- Kinds of models that are read, by the trainer's numbers.
local models = { "Unigram", "BPE" }

-- Kinds of pieces that a text may contain as they are, and whether they are special.
local CONTROL, OWN, NORMAL = 3, 4, 1
local is_special = { [CONTROL] = true, [OWN] = false }

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

--- Returns the model of a file's text: { kind = "Unigram" or "BPE", pieces = list of { text, score, special: true or
--- false of a piece that a text may contain as it is, else nil, is_normal: words are made of it }, map: of characters,
--- or "", collapses: whether several spaces become one, prefixes: whether a blank is put before a text, falls_back:
--- whether unknown characters become bytes }. Faults: format.
function sentencepiece.read(text, path)
  local function refuse(...) faults.raise("format", "%s: %s", path, faults.line(...)) end
  local pieces, trainer, normalizer, is_right = {}, "", "", true
  local is_whole = each_field(text, function(number, value)
    if number == MODEL.pieces then
      local piece = read(value, PIECE)
      is_right = is_right and piece ~= nil and type(piece.text) == "string" and utf8.len(piece.text) ~= nil
        and (piece.score == nil or math.type(piece.score) == "float")
      if is_right then
        local kind = piece.kind or NORMAL
        pieces[#pieces + 1] = { text = piece.text, score = piece.score or 0.0, special = is_special[kind],
          is_normal = kind == NORMAL }
      end
    elseif number == MODEL.trainer then
      trainer = value
    elseif number == MODEL.normalizer then
      normalizer = value
    end
  end)
  local trained, normal = read(trainer, TRAINER), read(normalizer, NORMALIZER)
  if not is_whole or not is_right or not trained or not normal or #pieces == 0 then
    refuse("is not a model of SentencePiece, or is cut off")
  end
  local kind = models[trained.kind or 1]
  if not kind then refuse("is neither a unigram model nor byte pairs; others are not supported") end
  if (trained.suffixes or 0) ~= 0 then refuse("puts blanks after words, which is not supported") end
  if normal.escapes == 0 then refuse("keeps blanks as they are, which is not supported") end
  if type(normal.map or "") ~= "string" then refuse("its map of characters is not bytes") end
  return { kind = kind, pieces = pieces, map = normal.map or "", collapses = normal.collapses ~= 0,
    prefixes = normal.prefixes ~= 0, falls_back = (trained.falls_back or 0) ~= 0 }
end

return sentencepiece
