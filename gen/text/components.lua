-- components.lua: turns normalizers, pre-tokenizers and decoders of tokenizer.json into records for the tables.
-- Sequences become lists. An unknown component is refused by name.
local base64 = require("text.base64")
local json = require("common.json")
local numbers = require("text.numbers")
local regex = require("text.regex")

local components = {}

local NORMALIZE, CUT, DECODE, BERT, FORM = numbers.NORMALIZE, numbers.CUT, numbers.DECODE, numbers.BERT, numbers.FORM
local CLASS, SCHEME, behaviors = numbers.CLASS, numbers.SCHEME, numbers.BEHAVIOR
local BEHAVIOR = { Removed = behaviors.removed, Isolated = behaviors.isolated,
  MergedWithPrevious = behaviors.with_previous, MergedWithNext = behaviors.with_next,
  Contiguous = behaviors.contiguous }

local function flag(value, bit) return value and bit or 0 end

-- Returns the PCRE2 pattern of { String = text } or { Regex = text }.
local function pattern(look, object, path)
  local value = look:object(object, path, "pattern")
  if not value then return nil end
  if value.String ~= nil then
    local text = look:text(value, path .. ".pattern", "String")
    return text and regex.quote(text), text
  end
  local text = look:text(value, path .. ".pattern", "Regex")
  if not text then return nil end
  local translated, problem = regex.translate(text)
  if not translated then look:fault(path .. ".pattern.Regex", problem .. " is not supported in patterns") end
  return translated
end

local function charsmap(look, object, path)
  local text = look:text(object, path, "precompiled_charsmap")
  local bytes = text and base64.decode(text)
  if text and not bytes then look:fault(path .. ".precompiled_charsmap", "is not base64") end
  if not bytes then return nil end
  local size = #bytes >= 4 and string.unpack("<I4", bytes)
  if not size or size > #bytes - 4 or size < 4 then
    look:fault(path .. ".precompiled_charsmap", "is cut off, or is not a map of characters")
    return nil
  end
  if not utf8.len(bytes, 5 + size // 4 * 4) then
    look:fault(path .. ".precompiled_charsmap", "its texts are not UTF-8")
  end
  return bytes
end

local normalizers = {}

function normalizers.BertNormalizer(look, object, path)
  local lower = look:boolean(object, path, "lowercase")
  local strip = object.strip_accents
  if strip ~= nil and type(strip) ~= "boolean" then
    look:fault(path .. ".strip_accents", "true, false or null is expected")
  end
  if strip == nil then strip = lower end
  return { kind = NORMALIZE.bert, flags = flag(look:boolean(object, path, "clean_text"), BERT.clean)
    | flag(look:boolean(object, path, "handle_chinese_chars"), BERT.chinese) | flag(strip, BERT.strip)
    | flag(lower, BERT.lower) }
end

function normalizers.Lowercase() return { kind = NORMALIZE.lowercase } end
function normalizers.StripAccents() return { kind = NORMALIZE.accents } end
function normalizers.Nmt() return { kind = NORMALIZE.nmt } end
function normalizers.ByteLevel() return { kind = NORMALIZE.bytes } end
function normalizers.NFD() return { kind = NORMALIZE.form, flags = 0 } end
function normalizers.NFKD() return { kind = NORMALIZE.form, flags = FORM.compatible } end
function normalizers.NFC() return { kind = NORMALIZE.form, flags = FORM.composed } end
function normalizers.NFKC() return { kind = NORMALIZE.form, flags = FORM.compatible | FORM.composed } end

function normalizers.Strip(look, object, path)
  return { kind = NORMALIZE.strip, flags = flag(look:boolean(object, path, "strip_left"), 1)
    | flag(look:boolean(object, path, "strip_right"), 2) }
end

function normalizers.Prepend(look, object, path)
  return { kind = NORMALIZE.prepend, a = look:text(object, path, "prepend") }
end

function normalizers.Replace(look, object, path)
  return { kind = NORMALIZE.replace, a = pattern(look, object, path), b = look:text(object, path, "content") }
end

function normalizers.Precompiled(look, object, path)
  return { kind = NORMALIZE.precompiled, a = charsmap(look, object, path) }
end

local cutters = {}

local function characters(class, behavior) return { kind = CUT.characters, number = class, flags = behavior } end

function cutters.BertPreTokenizer()
  return characters(CLASS.white, BEHAVIOR.Removed), characters(CLASS.punctuation, BEHAVIOR.Isolated)
end

function cutters.WhitespaceSplit() return characters(CLASS.white, BEHAVIOR.Removed) end
function cutters.Whitespace()
  return { kind = CUT.pattern, flags = BEHAVIOR.Removed | CUT.invert, a = regex.whitespace }
end

function cutters.Punctuation(look, object, path)
  return characters(CLASS.punctuation, look:choice(object, path, "behavior", BEHAVIOR, "Isolated"))
end

function cutters.Digits(look, object, path)
  local one_by_one = look:boolean(object, path, "individual_digits")
  return characters(CLASS.number, one_by_one and BEHAVIOR.Isolated or BEHAVIOR.Contiguous)
end

function cutters.Split(look, object, path)
  local invert = look:boolean(object, path, "invert")
  return { kind = CUT.pattern, a = pattern(look, object, path),
    flags = (look:choice(object, path, "behavior", BEHAVIOR) or 0) | flag(invert, CUT.invert) }
end

function cutters.ByteLevel(look, object, path)
  look:boolean(object, path, "trim_offsets")
  local by_pattern = look:boolean(object, path, "use_regex", true)
  return { kind = CUT.bytes, flags = flag(look:boolean(object, path, "add_prefix_space"), 1),
    a = by_pattern and regex.translate(regex.byte_level) or "" }
end

-- Returns the character and the scheme of a Metaspace, which is a pre-tokenizer or a decoder.
local function metaspace(look, object, path)
  local replacement = look:text(object, path, "replacement")
  if replacement and utf8.len(replacement) ~= 1 then look:fault(path .. ".replacement", "one character is expected") end
  local scheme = look:choice(object, path, "prepend_scheme", SCHEME, "always")
  if object.add_prefix_space == false and scheme ~= SCHEME.never then
    look:fault(path .. ".add_prefix_space", "false, but prepend_scheme is not never")
  end
  return replacement, scheme
end

function cutters.Metaspace(look, object, path)
  local replacement, scheme = metaspace(look, object, path)
  return { kind = CUT.metaspace, a = replacement, number = scheme,
    flags = flag(look:boolean(object, path, "split", true), 1) }
end

local decoders = {}

function decoders.WordPiece(look, object, path)
  return { kind = DECODE.wordpiece, a = look:text(object, path, "prefix"),
    flags = flag(look:boolean(object, path, "cleanup"), 1) }
end

function decoders.ByteLevel() return { kind = DECODE.bytes } end
function decoders.ByteFallback() return { kind = DECODE.byte_fallback } end
function decoders.Fuse() return { kind = DECODE.fuse } end

function decoders.Metaspace(look, object, path)
  local replacement, scheme = metaspace(look, object, path)
  return { kind = DECODE.metaspace, a = replacement, number = scheme }
end

function decoders.Strip(look, object, path)
  local content = look:text(object, path, "content")
  if content and utf8.len(content) ~= 1 then look:fault(path .. ".content", "one character is expected") end
  return { kind = DECODE.strip, a = content, number = look:count(object, path, "start"),
    flags = look:count(object, path, "stop") }
end

function decoders.Replace(look, object, path)
  return { kind = DECODE.replace, a = pattern(look, object, path), b = look:text(object, path, "content") }
end

function decoders.BPEDecoder(look, object, path)
  local suffix = look:text(object, path, "suffix")
  if suffix == "" then look:fault(path .. ".suffix", "an empty text is not supported") end
  return { kind = DECODE.bpe, a = suffix }
end

local MOST = 64

-- Adds the records of a component, or of a sequence's components, to a list.
local function add(look, list, stage, makers, members, value, path, depth)
  if json.kind(value) ~= "object" then return look:fault(path, "an object is expected") end
  if value.type == "Sequence" and depth < 8 then
    for i, member in ipairs(look:array(value, path, members) or {}) do
      add(look, list, stage, makers, members, member, ("%s.%s[%d]"):format(path, members, i - 1), depth + 1)
    end
    return nil
  end
  local maker = look:choice(value, path, "type", makers)
  if not maker then return nil end
  for _, record in ipairs { maker(look, value, path) } do
    record.stage, record.path = stage, path
    if json.kind(value.pattern) == "object" then
      record.source = value.pattern.String or value.pattern.Regex
      record.path = path .. (value.pattern.String and ".pattern.String" or ".pattern.Regex")
    end
    list[#list + 1] = record
  end
  if #list > MOST then look:fault(path, "more than 64 components") end
  return nil
end

--- Returns the records of all tokenizer stages, in order. Each has its path in the file, and a pattern also its source.
--- process.lua adds the components of post-processing.
function components.read(look, root)
  local list, stage = {}, numbers.STAGE
  if root.normalizer ~= nil then
    add(look, list, stage.normalize, normalizers, "normalizers", root.normalizer, "normalizer", 0)
  end
  if root.pre_tokenizer ~= nil then
    add(look, list, stage.cut, cutters, "pretokenizers", root.pre_tokenizer, "pre_tokenizer", 0)
  end
  if root.decoder ~= nil then
    add(look, list, stage.decode, decoders, "decoders", root.decoder, "decoder", 0)
  else
    list[#list + 1] = { stage = stage.decode, kind = DECODE.join, a = " " }
  end
  return list
end

return components
