-- model.lua: reads the model and the added tokens of tokenizer.json, and checks vocabulary, merges and scores.
-- The ids of added tokens follow from their order, not from the ids in the file.
local faults = require("common.faults")
local json = require("common.json")
local numbers = require("text.numbers")
local words = require("common.words")

local model = {}

local KIND = { WordPiece = numbers.MODEL.wordpiece, BPE = numbers.MODEL.bpe, Unigram = numbers.MODEL.unigram }
local OPTION = numbers.OPTION
local MOST_TOKENS = 1 << 24
local UNKNOWN_PENALTY = 10

-- Returns the kind of a model. Files of the library's first versions have no type; their members tell.
local function guess(look, object)
  if object.type ~= nil then return look:choice(object, "model", "type", KIND) end
  if object.vocab and object.merges then return KIND.BPE end
  if object.max_input_chars_per_word then return KIND.WordPiece end
  look:fault("model.type", "nothing; WordPiece, BPE or Unigram is expected")
  return nil
end

-- Reads { token = id } into made.ids and made.tokens (id -> token). Ids are less than MOST_TOKENS.
local function read_vocabulary(look, object, made)
  local count, largest = 0, -1
  for token, id in pairs(look:object(object, "model", "vocab") or {}) do
    if math.type(id) ~= "integer" or id < 0 or id >= MOST_TOKENS then
      look:fault("model.vocab", ("%s has no id from 0 to %d"):format(faults.quote(token), MOST_TOKENS - 1))
    elseif not utf8.len(token) then
      look:fault("model.vocab", ("%s is not UTF-8"):format(faults.quote(token)))
    elseif made.tokens[id] then
      look:fault("model.vocab", ("%s and %s have the same id"):format(faults.quote(token),
        faults.quote(made.tokens[id])))
    else
      made.tokens[id], made.ids[token] = token, id
      count, largest = count + 1, math.max(largest, id)
    end
  end
  made.count, made.largest = count, largest
  if count == 0 then look:fault("model.vocab", "has no token") end
  if largest > 4 * count + 1000 then look:fault("model.vocab", "has ids far above the number of its tokens") end
end

local function unknown_token(look, object, made)
  local token = look:maybe_text(object, "model", "unk_token")
  made.unknown = token and made.ids[token]
  return token
end

local function read_wordpiece(look, object, made)
  read_vocabulary(look, object, made)
  look:text(object, "model", "unk_token")
  local token = unknown_token(look, object, made)
  if token and not made.unknown then
    look:warn(("unk_token %s is not in the vocabulary: a text with an unknown word is refused"):format(
      faults.quote(token)))
  end
  made.prefix = look:text(object, "model", "continuing_subword_prefix")
  made.longest_word = look:count(object, "model", "max_input_chars_per_word")
end

-- Returns the two halves of a merge, or nil.
local function halves(merge)
  if type(merge) == "string" then return merge:match("^([^ ]+) ([^ ]+)$") end
  if type(merge) == "table" and #merge == 2 and type(merge[1]) == "string" and type(merge[2]) == "string" then
    return merge[1], merge[2]
  end
  return nil
end

-- Reads the merges into lists of left, right, rank and result. The last of equal pairs counts.
local function read_merges(look, object, made)
  local merges, prefix, rank = look:array(object, "model", "merges") or {}, #(made.prefix or ""), 0
  local ids, places, list = made.ids, {}, { count = 0, left = {}, right = {}, rank = {}, result = {} }
  for i, merge in ipairs(merges) do
    local a, b = halves(merge)
    if type(merge) ~= "string" or merge:sub(1, 8) ~= "#version" then
      local left, right = ids[a or ""], ids[b or ""]
      local result = left and right and ids[a .. b:sub(prefix + 1)]
      if not result then
        look:fault(("model.merges[%d]"):format(i - 1), a and ("%s %s: a half or their union is not a token"):format(
          faults.quote(a), faults.quote(b)) or "is not a pair of tokens")
        if #look.lines >= 10 then return end
      else
        local place = places[left << 32 | right]
        if not place then
          place = list.count + 1
          places[left << 32 | right], list.count = place, place
        end
        list.left[place], list.right[place], list.rank[place], list.result[place] = left, right, rank, result
      end
      rank = rank + 1
    end
  end
  made.merges = list
end

local function option(look, object, key, bit) return look:boolean(object, "model", key, false) and bit or 0 end

local function read_bpe(look, object, made)
  read_vocabulary(look, object, made)
  made.prefix = look:maybe_text(object, "model", "continuing_subword_prefix") or ""
  made.suffix = look:maybe_text(object, "model", "end_of_word_suffix") or ""
  if #made.suffix > 60 then look:fault("model.end_of_word_suffix", "more than 60 bytes are not supported") end
  made.options = option(look, object, "fuse_unk", OPTION.fuse_unknown)
    | option(look, object, "byte_fallback", OPTION.byte_fallback)
    | option(look, object, "ignore_merges", OPTION.ignore_merges)
  local token = unknown_token(look, object, made)
  if token and not made.unknown then made.options = made.options | OPTION.needs_unknown end
  if #look.lines == 0 then read_merges(look, object, made) end
end

-- Returns a score as the library reads it. The library's JSON reader divides the rounded digits by a power of ten, and
-- its result may differ in the last bit. That bit decides ties between ways to cut a word.
local function as_read(score)
  for digits = 14, 16 do
    local text = ("%%.%de"):format(digits):format(score)
    if tonumber(text) == score then
      local sign, first, rest, exponent = text:match("^(%-?)(%d)%.(%d-)0*e([%+%-]%d+)$")
      local power = tonumber(exponent) - #rest
      local value = math.tointeger(first .. rest) + 0.0
      if power < -308 or power > 308 then return score end
      value = power < 0 and value / tonumber("1e" .. -power) or value * tonumber("1e" .. power)
      return sign == "-" and -value or value
    end
  end
  return score
end

local function read_unigram(look, object, made)
  made.scores = {}
  local least = math.huge
  local list = look:array(object, "model", "vocab") or {}
  if #list > MOST_TOKENS then return look:fault("model.vocab", "has too many tokens") end
  for i, entry in ipairs(list) do
    local token, score = type(entry) == "table" and entry[1], type(entry) == "table" and entry[2]
    if type(token) ~= "string" or type(score) ~= "number" or not utf8.len(token) or score ~= score then
      look:fault(("model.vocab[%d]"):format(i - 1), "a token and its score are expected")
    else
      made.tokens[i - 1], made.ids[token], made.scores[i - 1] = token, i - 1, as_read(score + 0.0)
      least = math.min(least, made.scores[i - 1])
    end
  end
  made.count, made.largest = #list, #list - 1
  if #list == 0 then look:fault("model.vocab", "has no token") end
  if object.unk_id ~= nil then made.unknown = look:count(object, "model", "unk_id") end
  if made.unknown and made.unknown >= #list then look:fault("model.unk_id", "is not the id of a token") end
  made.unknown_score = least - UNKNOWN_PENALTY
  made.options = option(look, object, "byte_fallback", OPTION.byte_fallback)
end

local readers = { [KIND.WordPiece] = read_wordpiece, [KIND.BPE] = read_bpe, [KIND.Unigram] = read_unigram }

--- Returns the model: { kind, tokens = id -> text, ids = text -> id, count, largest, unknown, options, prefix, suffix,
--- merges, scores }.
function model.read(look, root)
  local object = look:object(root, "tokenizer", "model")
  local made = { tokens = {}, ids = {}, options = 0, prefix = "", suffix = "", longest_word = 0, unknown_score = 0.0 }
  made.kind = object and guess(look, object)
  if made.kind then readers[made.kind](look, object, made) end
  look:settle()
  return made
end

local MOST_ADDED = 65536

-- Returns the content and the flags of one entry, or nil if it is malformed.
local function read_added(look, entry, path)
  if json.kind(entry) ~= "object" then
    look:fault(path, "an object is expected")
    return nil
  end
  local content, bits = look:text(entry, path, "content"), 0
  look:count(entry, path, "id")
  for _, name in ipairs(numbers.names.ADDED) do
    if look:boolean(entry, path, name) then bits = bits | numbers.ADDED[name] end
  end
  return content, bits
end

--- Reads the added tokens and puts them among the model's tokens. Returns a list of { text, id, flags, path = the place
--- in the file }, in the file's order. A token of the model keeps the model's id, and others get the next free ids.
--- more: texts of special tokens that come after them if they are not among them, or nil.
function model.add(look, root, made, more)
  local by_id, order, next_id = {}, {}, made.count
  local function id_of(content)
    local id = made.added_ids[content] or made.ids[content]
    if not id then id, next_id = next_id, next_id + 1 end
    return id
  end
  local function put(content, id, bits, path)
    if not by_id[id] then order[#order + 1] = id end
    by_id[id] = { text = content, id = id, flags = bits, path = path }
    made.added_ids[content] = id
    made.tokens[id] = content
    made.largest = math.max(made.largest, id)
  end
  local list = root.added_tokens ~= nil and look:array(root, "tokenizer", "added_tokens") or {}
  if #list > MOST_ADDED then look:fault("added_tokens", "more than 65,536 are not supported") end
  for i, entry in ipairs(list) do
    local path = ("added_tokens[%d]"):format(i - 1)
    local content, bits = read_added(look, entry, path)
    if content and content ~= "" then
      local id = id_of(content)
      if entry.id ~= id then
        look:warn(("added token %s gets the id %d, not %s: its id in the model, or the next free one"):format(
          faults.quote(content), id, tostring(entry.id)))
      end
      if made.tokens[id] and made.tokens[id] ~= content then
        look:fault(path, ("%s takes the id %d of %s: ids of the vocabulary are missing"):format(
          faults.quote(content), id, faults.quote(made.tokens[id])))
      end
      put(content, id, bits, path)
    end
  end
  for _, content in ipairs(more or {}) do
    if not made.added_ids[content] then put(content, id_of(content), numbers.ADDED.special) end
  end
  return words.map(order, function(id) return by_id[id] end)
end

return model
