-- pieces.lua: makes the equivalent tokenizer.json of a folder that has a SentencePiece model in place of it. A class of
-- transformers adds steps of its own to the model's pieces; the table `classes` has the steps of transformers 5.23.
local base64 = require("text.base64")
local faults = require("common.faults")
local files = require("common.files")
local json = require("common.json")
local kinds = require("common.kinds")
local languages = require("text.languages")
local lfs = require("lfs")
local sentencepiece = require("text.sentencepiece")
local words = require("common.words")

local pieces = {}

local BLANK = "▁"
local MOST_BLANKS = 65536 -- that are removed at an end of a text

local object, array = json.object, json.array

local function replaced(pattern, content)
  return object { type = "Replace", pattern = object(pattern), content = content }
end

local function normalizers(list) return object { type = "Sequence", normalizers = array(list) } end
local function cutters(list) return object { type = "Sequence", pretokenizers = array(list) } end

local function metaspace(scheme)
  return object { type = "Metaspace", replacement = BLANK, prepend_scheme = scheme, split = true }
end

-- Returns the model's own map of characters, or nil if it has none.
local function map_of(model)
  return model.map ~= "" and object { type = "Precompiled", precompiled_charsmap = base64.encode(model.map) } or nil
end

-- The functions from here on return steps of a class: normalizers, and how a text is cut. scheme: of the blank before a
-- text.

-- A blank is put before the text, then small letters, no punctuation of ASCII, and single spaces; then SentencePiece's
-- own steps, which remove blanks at the end.
local function normalizer_of_siglip(model, config)
  local list = { replaced({ String = BLANK }, " "), object { type = "Prepend", prepend = BLANK } }
  if config.do_lower_case ~= false then list[#list + 1] = object { type = "Lowercase" } end
  list[#list + 1] = replaced({ Regex = "[!-/:-@\\[-`{-~]" }, "")
  list[#list + 1] = replaced({ Regex = "[\\s\\x1c-\\x1f]+" }, " ")
  list[#list + 1] = object { type = "Strip", strip_left = true, strip_right = true }
  list[#list + 1] = map_of(model)
  if model.collapses then
    list[#list + 1] = replaced({ Regex = " {2,}" }, " ")
    list[#list + 1] = replaced({ Regex = "[ " .. BLANK .. "]+$" }, "")
  end
  return normalizers(list)
end

local function normalizer_of_albert(model, config)
  local list = { replaced({ String = "``" }, '"'), replaced({ String = "''" }, '"') }
  if config.keep_accents ~= true then list[3], list[4] = object { type = "NFKD" }, object { type = "StripAccents" } end
  if config.do_lower_case ~= false then list[#list + 1] = object { type = "Lowercase" } end
  list[#list + 1] = map_of(model)
  return normalizers(list)
end

-- The class leaves out the model's map.
local function normalizer_of_deberta(_, config)
  local list = { replaced({ Regex = "\\s{2,}|[\\n\\r\\t]" }, " "), object { type = "NFC" },
    object { type = "Strip", strip_left = false, strip_right = true } }
  if config.do_lower_case == true then table.insert(list, 1, object { type = "Lowercase" }) end
  return normalizers(list)
end

local function cut_of_deberta(scheme, config)
  local list = { metaspace(scheme) }
  if config.split_by_punct == true then
    table.insert(list, 1, object { type = "Punctuation", behavior = "Isolated" })
  end
  return cutters(list)
end

local function single_blanks(model)
  local list = { map_of(model) }
  list[#list + 1] = replaced({ Regex = " {2,}" }, " ")
  return normalizers(list)
end

-- SentencePiece's own steps: single blanks, none at the ends, and one before the text.
local function normalizer_of_library(model)
  local list = { map_of(model) }
  if model.collapses then
    list[#list + 1] = replaced({ Regex = " {2,}" }, " ")
    list[#list + 1] = replaced({ Regex = "\\A |[ " .. BLANK .. "]+\\z" }, "")
  end
  if model.prefixes then list[#list + 1] = object { type = "Prepend", prepend = " " } end
  return normalizers(list)
end

-- The whole text is one word: the library sums the scores of all pieces.
local function cut_of_library()
  return object { type = "Metaspace", replacement = BLANK, prepend_scheme = "never", split = false }
end

local function decoder_of_library(model)
  local list = array { object { type = "Replace", pattern = object { String = BLANK }, content = " " } }
  if model.falls_back then list[2] = object { type = "ByteFallback" } end
  list[#list + 1] = object { type = "Fuse" }
  list[#list + 1] = object { type = "Strip", content = " ", start = MOST_BLANKS, stop = MOST_BLANKS }
  return object { type = "Sequence", decoders = list }
end

local function words_alone(scheme) return cutters { object { type = "WhitespaceSplit" }, metaspace(scheme) } end

-- The functions from here on return a class's vocabulary, a list of { token, score }. names: of the special tokens.

local function as_it_is(model)
  return array(words.map(model.pieces, function(piece) return array { piece.text, piece.score } end))
end

-- T5's names of gaps, the last one first.
local function gaps_of(config)
  local list = {}
  for i = math.tointeger(config.extra_ids) - 1, 0, -1 do list[#list + 1] = ("<extra_id_%d>"):format(i) end
  return list
end

local function with_gaps(model, config)
  local vocab = as_it_is(model)
  for _, name in ipairs(gaps_of(config)) do vocab[#vocab + 1] = array { name, 0.0 } end
  return vocab
end

-- Returns a special token's text, and its entry in tokenizer_config.json, or an empty table.
local function named(config, key)
  local given = json.kind(config[key]) == "object" and config[key] or {}
  return given.content or config[key], given
end

-- Numbers of fairseq: a list of its own, the pieces from number `from` on, and tokens of score 0.
local function numbered(first, from, last, model)
  local vocab = array {}
  for i, entry in ipairs(first) do vocab[i] = array(entry) end
  for i = from, #model.pieces do vocab[#vocab + 1] = array { model.pieces[i].text, model.pieces[i].score } end
  for _, token in ipairs(last) do vocab[#vocab + 1] = array { token, 0.0 } end
  return vocab
end

-- Returns the function of XLM-RoBERTa's numbers, with a list of languages before the mask.
local function fairseq(codes)
  return function(model, _, names)
    local last = table.move(codes, 1, #codes, 1, {})
    last[#last + 1] = names.mask_token
    return numbered({ { names.bos_token, 0.0 }, { names.pad_token, 0.0 }, { names.eos_token, 0.0 },
      { names.unk_token, 0.0 } }, 4, last, model)
  end
end

local function vocab_of_camembert(model, _, names)
  return numbered({ { "<s>NOTUSED", 0.0 }, { names.pad_token, 0.0 }, { "</s>NOTUSED", 0.0 }, { names.unk_token, 0.0 },
    { "<unk>NOTUSED", -100.0 } }, 2, { names.mask_token }, model)
end

-- The class looks pieces up by their texts, so a special token's piece has the class's number.
local function vocab_of_nllb(model, _, names)
  local vocab, seen = array {}, {}
  local function add(text)
    if not seen[text] then vocab[#vocab + 1], seen[text] = array { text, 0.0 }, true end
  end
  for _, key in ipairs { "bos_token", "pad_token", "eos_token", "unk_token" } do add(names[key]) end
  for _, piece in ipairs(model.pieces) do add(piece.text) end
  return vocab
end

-- Pegasus' tokens for gaps: numbers below the offset, and two masks in front of them.
local function unknowns_of(config)
  local list = {}
  for i = 2, math.tointeger(config.offset) - 1 do list[#list + 1] = ("<unk_%d>"):format(i) end
  return list
end

local function vocab_of_pegasus(model, config, names)
  local first = { { names.pad_token, 0.0 }, { names.eos_token, 0.0 }, { names.mask_token_sent, 0.0 },
    { names.mask_token, 0.0 } }
  for _, name in ipairs(unknowns_of(config)) do first[#first + 1] = { name, -100.0 } end
  return numbered(first, 3, {}, model)
end

local function masks_and_unknowns_of(config)
  return table.move(unknowns_of(config), 1, config.offset, 2, { (named(config, "mask_token_sent")) })
end

-- Returns the languages that a folder names.
local function extra_of(config)
  local list = {}
  for _, key in ipairs { "additional_special_tokens", "extra_special_tokens" } do
    for _, each in ipairs(json.kind(config[key]) == "array" and config[key] or {}) do
      list[#list + 1] = json.kind(each) == "object" and each.content or each
    end
  end
  return list
end

-- Special tokens in the order in which they get numbers if the vocabulary does not have them.
local SPECIALS = { "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token" }

local function bert(unknown, pad)
  return { bos_token = "[CLS]", eos_token = "[SEP]", unk_token = unknown, sep_token = "[SEP]", pad_token = pad,
    cls_token = "[CLS]", mask_token = "[MASK]" }
end

local roberta = { bos_token = "<s>", eos_token = "</s>", unk_token = "<unk>", sep_token = "</s>", pad_token = "<pad>",
  cls_token = "<s>", mask_token = "<mask>" }

local strips = { lstrip = true }

local function codes_of_m2m_100(config)
  local list = languages.m2m_100[config.language_codes or "m2m100"]
  if list then return list end
  faults.raise("format", "tokenizer_config.json: language_codes: %s, but %s are allowed",
    json.shown(config.language_codes), table.concat(words.sorted_keys(languages.m2m_100), " and "))
end

local of_pegasus = { eos_token = "</s>", unk_token = "<unk>", pad_token = "<pad>", mask_token = "<mask_2>",
  mask_token_sent = "<mask_1>" }
local ends = { eos_token = "</s>", unk_token = "<unk>", pad_token = "<pad>" }

-- A class: `type`: the model_types of folders that name no class; `file`; `names`: special tokens that a folder does
-- not name; normalizer(model, config), cut(scheme, config), vocab(model, config, names); blank: the scheme with
-- add_prefix_space = false; single, pair: what is around a text and a pair, with types of tokens after a colon, or
-- nil: languages.lua has it; more(config, names): further special tokens; counts: settings that are counts, and what
-- they are by default; is_slow: the class is not one of tokenizers, so its special tokens take the spaces around them,
-- and texts contain no others; mask: flags of the mask; model: the kind of model, if not Unigram; numbers: the file
-- that numbers the pieces for a class with SentencePiece's own library; needs: a file that must also be there.
local classes = {
  SiglipTokenizer = { type = "siglip", file = "spiece.model", is_slow = true,
    names = { eos_token = "</s>", pad_token = "</s>", unk_token = "<unk>" },
    normalizer = normalizer_of_siglip, cut = function() return metaspace("never") end, vocab = as_it_is,
    single = "A eos_token", pair = "A eos_token B eos_token" },
  T5Tokenizer = { type = "t5 mt5 umt5", file = "spiece.model",
    names = { eos_token = "</s>", unk_token = "<unk>", pad_token = "<pad>" },
    normalizer = map_of, cut = words_alone, vocab = with_gaps, more = gaps_of, counts = { extra_ids = 100 },
    single = "A eos_token", pair = "A eos_token B eos_token" },
  AlbertTokenizer = { type = "albert", file = "spiece.model", names = bert("<unk>", "<pad>"),
    normalizer = normalizer_of_albert, cut = words_alone, vocab = as_it_is, blank = "never",
    single = "cls_token A sep_token", pair = "cls_token A sep_token B:1 sep_token:1" },
  XLMRobertaTokenizer = { type = "xlm-roberta", file = "sentencepiece.bpe.model", names = roberta,
    normalizer = map_of, cut = words_alone, vocab = fairseq {}, blank = "never",
    single = "bos_token A eos_token", pair = "bos_token A eos_token eos_token B eos_token" },
  CamembertTokenizer = { type = "camembert", file = "sentencepiece.bpe.model", names = roberta,
    normalizer = map_of, cut = words_alone, vocab = vocab_of_camembert, blank = "never", mask = strips,
    single = "bos_token A eos_token", pair = "bos_token A eos_token eos_token B eos_token" },
  DebertaV2Tokenizer = { type = "deberta-v2", file = "spm.model", names = bert("[UNK]", "[PAD]"),
    normalizer = normalizer_of_deberta, cut = cut_of_deberta, vocab = as_it_is, blank = "first",
    single = "cls_token A sep_token", pair = "cls_token A sep_token B:1 sep_token:1" },
  PegasusTokenizer = { type = "pegasus", file = "spiece.model", names = of_pegasus,
    normalizer = single_blanks, cut = metaspace, vocab = vocab_of_pegasus, more = masks_and_unknowns_of,
    counts = { offset = 103 }, single = "A eos_token", pair = "A B eos_token" },
  MBartTokenizer = { type = "mbart", file = "sentencepiece.bpe.model", names = roberta,
    normalizer = function() end, cut = words_alone, vocab = fairseq(languages.mbart), -- without the model's map
    more = function() return languages.mbart end, mask = strips },
  MBart50Tokenizer = { file = "sentencepiece.bpe.model", names = roberta,
    normalizer = single_blanks, cut = metaspace, vocab = fairseq(languages.mbart_50),
    more = function() return languages.mbart_50 end, mask = strips },
  NllbTokenizer = { file = "sentencepiece.bpe.model", names = roberta, model = "BPE",
    normalizer = single_blanks, cut = metaspace, vocab = vocab_of_nllb, more = extra_of,
    mask = { lstrip = true, normalized = true } },
  M2M100Tokenizer = { type = "m2m_100", file = "sentencepiece.bpe.model", names = words.merged(ends,
    { bos_token = "<s>" }), numbers = "vocab.json", more = codes_of_m2m_100 },
  MarianTokenizer = { type = "marian", file = "source.spm", names = ends, numbers = "vocab.json",
    needs = "target.spm" },
}
for _, class in pairs(classes) do
  if class.numbers then
    class.normalizer, class.cut, class.vocab, class.is_slow = normalizer_of_library, cut_of_library, as_it_is, true
  end
end

-- Returns the class of a folder's tokenizer, or nil, and its name.
local function class_of(config, model)
  local name = pieces.class(config, model)
  return classes[name], name
end

--- Returns the name of the class of a folder's tokenizer, or nil. config: tokenizer_config.json, or nil; model:
--- config.json, or nil.
function pieces.class(config, model)
  local stated = json.kind(config) == "object" and config.tokenizer_class
  if type(stated) == "string" then return (stated:gsub("Fast$", "")) end
  local of_type = json.kind(model) == "object" and model.model_type
  for _, name in ipairs(words.sorted_keys(classes)) do
    local types = (" %s "):format(classes[name].type or "")
    if type(of_type) == "string" and types:find((" %s "):format(of_type), 1, true) then return name end
  end
  return nil
end

-- Returns the tokens that a text may contain as they are, by ascending ids. Tokens that the vocabulary lacks get ids.
local function added_of(class, config, ids, model)
  local list, seen, count = array {}, {}, 0
  for _ in pairs(ids) do count = count + 1 end
  local is_wide = class.is_slow == true and not class.numbers
  local function choose(value, default) if type(value) == "boolean" then return value end return default end
  local function add(content, id, given, usual)
    if type(content) ~= "string" or content == "" or seen[content] then return end
    if not id and (class.numbers or not class.is_slow) then id, count = count, count + 1 end
    if not id then return end
    seen[content], ids[content] = true, ids[content] or id
    list[#list + 1] = object { id = id, content = content, lstrip = choose(given.lstrip, usual.lstrip or is_wide),
      rstrip = choose(given.rstrip, is_wide), single_word = given.single_word == true,
      normalized = choose(given.normalized, usual.normalized or false), special = choose(given.special, true) }
  end
  local decoder = json.kind(config.added_tokens_decoder) == "object" and config.added_tokens_decoder or {}
  for _, key in ipairs(words.sorted_keys(decoder)) do
    local given = decoder[key]
    if json.kind(given) == "object" then add(given.content, math.tointeger(tonumber(key)), given, {}) end
  end
  for _, key in ipairs(SPECIALS) do
    local content, given = named(config, key)
    add(content, ids[content], given, key == "mask_token" and class.mask or {})
  end
  for _, piece in ipairs(not class.is_slow and model.pieces or {}) do
    if piece.special ~= nil then add(piece.text, ids[piece.text], { special = piece.special }, {}) end
  end
  for _, name in ipairs(class.more and class.more(config) or {}) do add(name, ids[name], {}, {}) end
  table.sort(list, function(one, other) return one.id < other.id end)
  return list
end

-- Returns the post-processor that puts special tokens around texts.
local function template_of(class, names, ids)
  local tokens = object {}
  local function list_of(text)
    local list = array {}
    for name, type_id in text:gmatch("([%w_]+):?(%d*)") do
      local content = names[name]
      local entry = object { id = content or name, type_id = math.tointeger(tonumber(type_id)) or 0 }
      list[#list + 1] = object { [content and "SpecialToken" or "Sequence"] = entry }
      if content then
        tokens[content] = object { id = content, ids = array { ids[content] }, tokens = array { content } }
      end
    end
    return list
  end
  return object { type = "TemplateProcessing", single = list_of(class.single), pair = list_of(class.pair),
    special_tokens = tokens }
end

local MOST_COUNT = 65536

local function refuse(folder, name, what, value, allowed)
  faults.raise("format", "%s/%s: %s%s, but %s is allowed", folder, name, what, json.shown(value), allowed)
end

-- Checks what tokenizer_config.json says about the class.
local function check_class(folder, config)
  if config == nil then return end
  if json.kind(config) ~= "object" then refuse(folder, "tokenizer_config.json", "is ", config, "an object") end
  local stated = config.tokenizer_class
  if stated ~= nil and stated ~= json.null and type(stated) ~= "string" then
    refuse(folder, "tokenizer_config.json", "tokenizer_class: ", stated, "the name of a class, a string,")
  end
end

-- Checks the counts of a class, and writes those that the config lacks.
local function check_counts(folder, config, counts)
  for key, default in pairs(counts) do
    local value = config[key]
    if value == nil or value == json.null then
      config[key] = default
    elseif type(value) ~= "number" or not math.tointeger(value) or value < 0 or value > MOST_COUNT then
      refuse(folder, "tokenizer_config.json", key .. ": ", value, ("an integer from 0 to %d"):format(MOST_COUNT))
    end
  end
end

local function has_any(folder)
  for _, class in pairs(classes) do
    if lfs.symlinkattributes(folder .. "/" .. class.file, "mode") then return true end
  end
  return false
end

-- Refuses a path that is no regular file.
local function check_file(path)
  local mode = lfs.attributes(path, "mode")
  if mode ~= "file" then
    local is_link = lfs.symlinkattributes(path, "mode")
    faults.raise("io", "%s: is %s, but a regular file is allowed", path,
      mode and "a " .. mode or is_link and "a link to nothing" or "missing")
  end
end

--- True if a folder has a SentencePiece model of a class that is known. config: tokenizer_config.json, or nil; model:
--- config.json, or nil. Faults: format, io: the model is no regular file, or a file that belongs to it is missing.
function pieces.is_in(folder, config, model)
  local class = class_of(config, model)
  local function is_there(name) return name and lfs.symlinkattributes(folder .. "/" .. name, "mode") ~= nil end
  if not has_any(folder) and not (class and is_there(class.needs)) then return false end
  check_class(folder, config)
  if not class or not is_there(class.file) and not is_there(class.needs) then return false end
  check_file(folder .. "/" .. class.file)
  if class.needs then check_file(folder .. "/" .. class.needs) end
  return true
end

-- Returns the merges of byte pairs of a SentencePiece model, which has only a list of pieces, in their order: all
-- pairs of pieces that are a piece together. The pairs of one piece are by ascending length of their left halves. Each
-- is { left, right, place of the piece in the list }.
local function merges_of(list_of_pieces)
  local known, list = {}, {}
  for _, piece in ipairs(list_of_pieces) do known[piece.text] = true end
  for place, piece in ipairs(list_of_pieces) do
    local text = piece.text
    local at = utf8.offset(text, 2)
    while at and at <= #text do
      local left, right = text:sub(1, at - 1), text:sub(at)
      if known[left] and known[right] then list[#list + 1] = { left, right, place } end
      at = utf8.offset(text, 2, at)
    end
  end
  return list
end

-- Returns the tokenizer.json's model. ids: of the vocabulary's texts.
local function model_of(model, kind, vocab, ids, unknown)
  if kind == "Unigram" then return object { type = "Unigram", vocab = vocab, unk_id = ids[unknown] } end
  local list = words.map(merges_of(model.pieces), function(each) return array { each[1], each[2] } end)
  return object { type = "BPE", vocab = object(words.merged(ids, {})), merges = array(list), unk_token = unknown,
    fuse_unk = true }
end

-- Returns the numbers of a file, a list of all tokens by number, and their count.
local function numbers_of(folder, name)
  local path = folder .. "/" .. name
  local text = files.read_if_there(path)
  if not text then faults.raise("io", path .. ": is missing, but the tokenizer's class has one") end
  local root, problem = json.decode(text)
  if json.kind(root) ~= "object" then faults.raise("format", "%s: %s", path, problem or "an object is expected") end
  local seen, count = {}, 0
  for token, id in pairs(root) do
    if math.type(id) ~= "integer" or id < 0 or seen[id] then
      faults.raise("format", "%s: %s: its number is no integer from 0, or another token's, too", path,
        faults.quote(token))
    end
    seen[id], count = true, count + 1
  end
  for id = 0, count - 1 do
    if not seen[id] then faults.raise("format", "%s: no token has the number %d", path, id) end
  end
  return root, count
end

-- Returns what library.renumber is given for a class whose pieces another file numbers.
local function numbering_of(class, folder, names, model, file)
  local ids, count = numbers_of(folder, file)
  local scores = {}
  for _, piece in ipairs(model.pieces) do
    if piece.special == false then
      faults.raise("format", "%s/%s: has pieces of its own, which are not supported", folder, class.file)
    end
    if piece.is_normal then scores[piece.text] = piece.score end
  end
  if not next(scores) then faults.raise("format", "%s/%s: has no pieces", folder, class.file) end
  return { ids = ids, count = count, scores = scores, unknown = names.unk_token, falls_back = model.falls_back,
    codes = class.type == "marian" }
end

-- Returns a class's files for the texts that a model writes, if a folder has a vocabulary for them.
local function for_target(class) return words.merged(class, { file = "target.spm", numbers = "target_vocab.json" }) end

--- True if a folder's vocabulary for sources is another one than that for the texts that the model writes.
function pieces.has_target(config) return json.kind(config) == "object" and config.separate_vocabs == true end

--- Returns the equivalent tokenizer.json of a folder with a SentencePiece model, the file's path, the given
--- tokenizer_config.json with the class's own special tokens, and what library.renumber is given, or nil. is_target: of
--- the texts that the model writes, if has_target. Faults: format, io.
function pieces.read(folder, config, model_config, is_target)
  local class = class_of(config, model_config)
  if is_target then class = for_target(class) end
  config = json.kind(config) == "object" and config or {}
  check_counts(folder, config, class.counts or {})
  for key, content in pairs(class.names) do if config[key] == nil then config[key] = content end end
  local path = folder .. "/" .. class.file
  local said = kinds.said_of_file(path, "sentencepiece")
  if said then faults.raise("format", "%s: %s", path, said) end
  local model, names, ids = sentencepiece.read(files.read_asked(path), path), {}, {}
  if model.kind ~= (class.model or "Unigram") and not class.numbers then
    faults.raise("format", "%s: is a model of the kind %s, but the class has %s", path, model.kind,
      class.model or "Unigram")
  end
  for key in pairs(class.names) do
    names[key] = named(config, key)
    if type(names[key]) ~= "string" then
      faults.raise("format", "%s/tokenizer_config.json: %s: a token is expected", folder, key)
    end
  end
  local vocab = class.vocab(model, config, names)
  for i, entry in ipairs(vocab) do ids[entry[1]] = i - 1 end
  local numbering = class.numbers and numbering_of(class, folder, names, model, class.numbers)
  local made = model_of(model, class.numbers and model.kind or class.model or "Unigram", vocab, ids, names.unk_token)
  if numbering then ids = words.merged(numbering.ids, {}) end
  local added = added_of(class, config, ids, model)
  if numbering then numbering.after = math.max(numbering.count, #added > 0 and added[#added].id + 1 or 0) end
  for key in ((class.single or "eos_token") .. " unk_token"):gmatch("[%l_]+_token") do
    if not ids[names[key]] or key == "unk_token" and ids[names[key]] >= (numbering and numbering.count or #vocab) then
      faults.raise("format", "%s: has no %s", numbering and folder .. "/" .. class.numbers or path,
        faults.quote(names[key]))
    end
  end
  local scheme = config.add_prefix_space == false and class.blank or "always"
  return object {
    added_tokens = added, normalizer = class.normalizer(model, config), pre_tokenizer = class.cut(scheme, config),
    decoder = class.numbers and decoder_of_library(model) or class.is_slow and metaspace("never") or metaspace(scheme),
    post_processor = class.single and template_of(class, names, ids), model = made,
  }, path, config, numbering
end

return pieces
