-- gguf.lua: makes the equivalent tokenizer.json of a GGUF file's metadata.
-- tokenizer.ggml.model names the kind: gpt2 (byte-level BPE), llama (SentencePiece's BPE, whose merges follow from
-- scores), gemma4 (the same with merges), bert (WordPiece) or t5 (Unigram). The type of each token says which are
-- special.
local base64 = require("text.base64")
local faults = require("common.faults")
local gguf = require("common.gguf")
local json = require("common.json")
local patterns = require("text.gguf_patterns")
local words = require("common.words")

local from_gguf = {}

local BLANK = "▁"
local TYPE = { unknown = 2, control = 3, user = 4, unused = 5, byte = 6 }
local MOST_READ = 1 << 28 -- bytes of tokens that are read to find merges: a vocabulary of 256,000 takes some 2^24
local INTEGERS = { "INT32", "UINT32", "INT8", "UINT8", "INT16", "UINT16" }

local object, array = json.object, json.array

-- Components may be shared; their metatables say what they are.
local function marked(value)
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, each in pairs(value) do copy[key] = marked(each) end
  return #value > 0 and array(copy) or object(copy)
end

local function refuse(file, key, ...)
  faults.raise("format", "%s: metadata %s: %s", file.path, faults.quote("tokenizer.ggml." .. key), faults.line(...))
end

-- Returns a metadata value of the tokenizer, or nil. kind: the Lua type that is expected.
local function value_of(file, key, kind)
  local value = file.metadata["tokenizer.ggml." .. key]
  if value == nil or type(value) == kind then return value end
  return refuse(file, key, "has type %s, but a %s is expected", file.types["tokenizer.ggml." .. key], kind)
end

-- kind of tokenizer -> ids that llama.cpp takes if the file has none.
local usual_ids = { llama = { bos = 1, eos = 2, unknown = 0 }, t5 = { eos = 1, unknown = 2 } }

-- Returns the id that a key names, or nil. Files have -1, or an id above all tokens, for none. usual: the id for none.
local function id_of(file, self, key, usual)
  local id = value_of(file, key, "number")
  if math.type(id) ~= "integer" or not self.tokens[id + 1] then id = usual end
  return id and self.tokens[id + 1] and id
end

local function list_of(file, key, allowed, count)
  local list = gguf.array(file, "tokenizer.ggml." .. key, allowed)
  if list and count and #list ~= count then
    refuse(file, key, "has %d values, but there are %d tokens", #list, count)
  end
  return list
end

-- Returns the vocabulary, token -> id. The later of two equal tokens has it, as in llama.cpp.
local function vocabulary(tokens)
  local ids = {}
  for i, token in ipairs(tokens) do ids[token] = i - 1 end
  return ids
end

-- Special tokens of Phi-3 that do not take in the spaces after them. The others do. Only the file's name says it.
local keeps_spaces = words.set { "<unk>", "<s>", "<|endoftext|>" }

-- Returns the entries of added tokens: those that a text may contain as they are.
local function added_of(self, ids)
  local list = {}
  for i, token in ipairs(self.tokens) do
    local kind = self.kinds[i]
    if (kind == TYPE.control or kind == TYPE.user or kind == TYPE.unknown) and token ~= "" and ids[token] == i - 1 then
      -- RoBERTa's <mask> takes in the spaces before it; Gemma's does not.
      list[#list + 1] = object { id = i - 1, content = token, lstrip = token == "<mask>" and not self.is_llama,
        rstrip = self.is_phi3 and not keeps_spaces[token], single_word = false, normalized = false,
        special = kind ~= TYPE.user }
    end
  end
  return array(list)
end

-- Returns a template with the tokens before and after a text, or nil without any. between: the token before a pair's
-- second text, or nil; second: the type of that text.
local function template(self, before, after, between, second)
  local names, single, pair = object {}, array {}, array {}
  local function add(list, id, type_id)
    if not id then return end
    local name = self.tokens[id + 1]
    names[name] = object { id = name, ids = array { id }, tokens = array { name } }
    list[#list + 1] = object { SpecialToken = object { id = name, type_id = type_id } }
  end
  local function text(list, which, type_id)
    list[#list + 1] = object { Sequence = object { id = which, type_id = type_id } }
  end
  if not before and not after then return nil end
  for _, list in ipairs { single, pair } do
    add(list, before, 0)
    text(list, "A", 0)
    add(list, after, 0)
  end
  add(pair, between, second)
  text(pair, "B", second)
  add(pair, after, second)
  return object { type = "TemplateProcessing", single = single, pair = pair, special_tokens = names }
end

-- Returns the template of models that begin with BOS and end with EOS, as the file or its kind's defaults say.
local function usual_template(file, self, with_bos, with_eos)
  local function wanted(key, default)
    local value = value_of(file, key, "boolean")
    if value == nil then return default end
    return value
  end
  local before = wanted("add_bos_token", with_bos) and self.bos or nil
  local after = wanted("add_eos_token", with_eos) and self.eos or nil
  -- Two texts of RoBERTa and XLM-RoBERTa have </s></s> between them, and one type.
  if before and after and not self.is_llama then return template(self, before, after, after, 0) end
  return template(self, before, after, before, 1)
end

local makers = {}

function makers.gpt2(file, self)
  local word = value_of(file, "pre", "string")
  local record = patterns.list[word or "default"]
  if not record then
    refuse(file, "pre", "%s is not supported; supported are %s; tokenizer=false builds the model without text",
      faults.quote(word), table.concat(words.sorted_keys(patterns.list), ", "))
  end
  if not word or word == "default" then
    self.notes[#self.notes + 1] = "tokenizer.ggml.pre names no pattern for words: that of GPT-2 is used"
  end
  local merges = list_of(file, "merges", { "STRING" })
  if not merges then refuse(file, "merges", "is missing") end
  local ids = vocabulary(self.tokens)
  return {
    added_tokens = added_of(self, ids),
    normalizer = record.normalizer and object { type = record.normalizer },
    pre_tokenizer = object { type = "Sequence", pretokenizers = marked(record.cuts) },
    post_processor = usual_template(file, self, record.bos, false),
    decoder = object { type = "ByteLevel", add_prefix_space = true, trim_offsets = true, use_regex = true },
    model = object { type = "BPE", vocab = object(ids), merges = array(merges),
      ignore_merges = record.ignore_merges or false },
  }
end

-- Architectures whose scores do not follow the order of merges. The order of their tokens does.
local by_order = { gemma = true, gemma2 = true, gemma3 = true }

-- Returns the merges of a SentencePiece model. Every token that two others make is a merge of them. The highest score
-- comes first, and of one token's merges the one with the longest first half. Only halves of lengths that tokens have
-- are looked up, because each look-up reads all bytes of the halves.
local function merges_of(file, self, ids)
  local list, has_length, read = {}, {}, 0
  local architecture = file.metadata["general.architecture"]
  for _, token in ipairs(self.tokens) do has_length[#token] = true end
  for i, token in ipairs(self.tokens) do
    local kind = self.kinds[i]
    if ids[token] == i - 1 and kind ~= TYPE.control and kind ~= TYPE.unknown and kind ~= TYPE.byte then
      local score = by_order[architecture] and -i or self.scores[i]
      for at in utf8.codes(token) do
        if has_length[at - 1] and has_length[#token - at + 1] then
          local left, right = token:sub(1, at - 1), token:sub(at)
          read = read + #token
          if at > 1 and ids[left] and ids[right] then
            list[#list + 1] = { left, right, score = score, first = utf8.len(left), second = utf8.len(right) }
          end
        end
      end
      if read > MOST_READ then
        refuse(file, "tokens", "token %d of %d bytes: its long tokens have too many lengths", i - 1, #token)
      end
    end
  end
  table.sort(list, function(a, b)
    if a.score ~= b.score then return a.score > b.score end
    if a.first ~= b.first then return a.first > b.first end
    if a.second ~= b.second then return a.second > b.second end
    if a[1] ~= b[1] then return ids[a[1]] < ids[b[1]] end
    return ids[a[2]] < ids[b[2]]
  end)
  for i, each in ipairs(list) do list[i] = array { each[1], each[2] } end
  return array(list)
end

-- Tokens of several spaces are written with spaces, but texts have blanks when they are looked up.
local function with_blanks(self)
  for i, token in ipairs(self.tokens) do
    if token:find("^  +$") then self.tokens[i], self.kinds[i] = BLANK:rep(#token), 1 end
  end
end

function makers.llama(file, self)
  self.is_llama = true
  self.scores = list_of(file, "scores", { "FLOAT32" }, #self.tokens)
  local given = list_of(file, "merges", { "STRING" })
  if not self.scores and not given then refuse(file, "scores", "is missing") end
  with_blanks(self)
  local ids, prefixed = vocabulary(self.tokens), value_of(file, "add_space_prefix", "boolean")
  if prefixed == nil then prefixed = not self.is_gemma4 end
  local unknown = self.unknown and self.tokens[self.unknown + 1]
  local normalizers = array { object { type = "Replace", pattern = object { String = " " }, content = BLANK } }
  local decoders = array { object { type = "Replace", pattern = object { String = BLANK }, content = " " },
    object { type = "ByteFallback" }, object { type = "Fuse" } }
  if prefixed then
    table.insert(normalizers, 1, object { type = "Prepend", prepend = BLANK })
    decoders[#decoders + 1] = object { type = "Strip", content = " ", start = 1, stop = 0 }
  end
  return {
    added_tokens = added_of(self, ids),
    normalizer = object { type = "Sequence", normalizers = normalizers },
    post_processor = usual_template(file, self, true, false),
    decoder = object { type = "Sequence", decoders = decoders },
    model = object { type = "BPE", vocab = object(ids),
      merges = given and array(given) or merges_of(file, self, ids),
      unk_token = unknown, fuse_unk = true, byte_fallback = true },
  }
end

-- The tokenizer of Gemma 4: merges of characters, and bytes for others. Texts begin with BOS, whatever the file says.
function makers.gemma4(file, self)
  self.is_gemma4 = true
  if not file.metadata["tokenizer.ggml.merges"] then refuse(file, "merges", "is missing") end
  file.metadata["tokenizer.ggml.add_bos_token"] = true
  return makers.llama(file, self)
end

-- Returns the tokens of a WordPiece with ## before the parts that continue a word. GGUF has ▁ before the others.
local function wordpieces(self)
  local list, is_cased = {}, false
  for i, token in ipairs(self.tokens) do
    local kind = self.kinds[i]
    local is_special = kind == TYPE.control or kind == TYPE.user or kind == TYPE.unknown or token:find("^%[.*%]$")
    if is_special then
      list[i] = token
    elseif token:sub(1, #BLANK) == BLANK then
      list[i] = token:sub(#BLANK + 1)
    else
      list[i] = "##" .. token
    end
    is_cased = is_cased or not is_special and token:find("%u") ~= nil
  end
  return list, is_cased
end

function makers.bert(file, self)
  local is_cased
  self.tokens, is_cased = wordpieces(self)
  local ids = vocabulary(self.tokens)
  local cls = id_of(file, self, "cls_token_id") or self.bos or ids["[CLS]"]
  local sep = id_of(file, self, "seperator_token_id") or id_of(file, self, "separator_token_id") or self.eos
    or ids["[SEP]"]
  local unknown = self.tokens[(self.unknown or ids["[UNK]"] or -1) + 1]
  if not cls or not sep or not unknown then
    refuse(file, "tokens", "a model of WordPiece needs the tokens [CLS], [SEP] and [UNK]")
  end
  self.cls = cls
  local lower = value_of(file, "normalizer.lowercase", "boolean")
  if lower == nil then lower = not is_cased end
  return {
    added_tokens = added_of(self, ids),
    normalizer = object { type = "BertNormalizer", clean_text = true, lowercase = lower,
      handle_chinese_chars = true, strip_accents = value_of(file, "normalizer.strip_accents", "boolean") },
    pre_tokenizer = object { type = "BertPreTokenizer" },
    post_processor = template(self, cls, sep, nil, 1),
    decoder = object { type = "WordPiece", prefix = "##", cleanup = true },
    model = object { type = "WordPiece", unk_token = unknown, continuing_subword_prefix = "##",
      max_input_chars_per_word = 100, vocab = object(ids) },
  }
end

-- Returns the bytes of a list of numbers, signed or not.
local function bytes_of(list)
  return table.concat(words.map(list, function(number) return string.char(number & 255) end))
end

-- True if the tokens have all 256 bytes. Characters outside the vocabulary then become their bytes.
local function has_bytes(self, ids)
  for byte = 0, 255 do
    local id = ids[("<0x%02X>"):format(byte)]
    if not id or self.kinds[id + 1] ~= TYPE.byte then return false end
  end
  return true
end

function makers.t5(file, self)
  self.scores = list_of(file, "scores", { "FLOAT32" }, #self.tokens)
  if not self.scores then refuse(file, "scores", "is missing") end
  local vocab, normalizers = array {}, array {}
  for i, token in ipairs(self.tokens) do
    vocab[i] = array { token, self.scores[i] }
    -- Rows without a token have names that the converter gives; they are no text.
    if self.kinds[i] == TYPE.unused and token:find("^%[PAD%d+%]$") then self.kinds[i] = TYPE.control end
  end
  local map = list_of(file, "precompiled_charsmap", { "INT8", "UINT8" })
  if map and #map > 0 then
    normalizers[1] = object { type = "Precompiled", precompiled_charsmap = base64.encode(bytes_of(map)) }
  end
  if value_of(file, "remove_extra_whitespaces", "boolean") ~= false then
    normalizers[#normalizers + 1] = object { type = "Strip", strip_left = false, strip_right = true }
    normalizers[#normalizers + 1] = object { type = "Replace", pattern = object { Regex = " {2,}" }, content = " " }
  end
  local scheme = value_of(file, "add_space_prefix", "boolean") == false and "never" or "always"
  local metaspace = object { type = "Metaspace", replacement = BLANK, prepend_scheme = scheme, split = true }
  local ids = vocabulary(self.tokens)
  local falls_back = has_bytes(self, ids)
  return {
    added_tokens = added_of(self, ids),
    normalizer = #normalizers > 0 and object { type = "Sequence", normalizers = normalizers } or nil,
    pre_tokenizer = metaspace,
    decoder = falls_back and object { type = "Sequence",
      decoders = array { object { type = "ByteFallback" }, metaspace } } or metaspace,
    post_processor = usual_template(file, self, false, true),
    model = object { type = "Unigram", vocab = vocab, unk_id = self.unknown, byte_fallback = falls_back },
  }
end

--- True if a file's metadata has a tokenizer.
function from_gguf.has(file)
  local kind = file.metadata["tokenizer.ggml.model"]
  return kind ~= nil and kind ~= "none" and kind ~= "no_vocab"
end

--- Returns the equivalent tokenizer.json, a table with the names of special tokens as tokenizer_config.json has them,
--- and notes. file: as gguf.read returns it. Faults: format, in one line that names the metadata.
function from_gguf.read(file)
  local kind = value_of(file, "model", "string")
  if not makers[kind or ""] then
    refuse(file, "model", "%s is not supported; supported are %s; tokenizer=false builds the model without text",
      kind and faults.quote(kind) or "nothing", table.concat(words.sorted_keys(makers), ", "))
  end
  local self = { notes = {}, tokens = list_of(file, "tokens", { "STRING" }) }
  if not self.tokens then refuse(file, "tokens", "is missing") end
  for i, token in ipairs(self.tokens) do
    if not utf8.len(token) then refuse(file, "tokens", "token %d is not UTF-8", i - 1) end
  end
  self.kinds = list_of(file, "token_type", INTEGERS, #self.tokens) or {}
  local usual = usual_ids[kind] or {}
  self.bos, self.eos = id_of(file, self, "bos_token_id", usual.bos), id_of(file, self, "eos_token_id", usual.eos)
  self.unknown = id_of(file, self, "unknown_token_id", usual.unknown)
  self.mask = id_of(file, self, "mask_token_id")
  self.is_phi3 = tostring(file.metadata["general.name"]):lower():find("phi%-?3") ~= nil
  local root = makers[kind](file, self)
  local function name(id) return id and self.tokens[id + 1] end
  local specials = { tokenizer_class = "PreTrainedTokenizerFast", bos_token = name(self.bos),
    eos_token = name(self.eos), mask_token = name(self.mask), cls_token = name(self.cls),
    unk_token = name(self.unknown), pad_token = name(id_of(file, self, "padding_token_id")) }
  return object(root), specials, self.notes
end

return from_gguf
