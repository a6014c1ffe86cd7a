-- pieces.lua: makes the equivalent tokenizer.json of a folder that has a SentencePiece model in place of it. A class of
-- transformers adds steps of its own to the model's pieces; the table `classes` has the steps of transformers 5.23.
local base64 = require("text.base64")
local faults = require("common.faults")
local files = require("common.files")
local json = require("common.json")
local kinds = require("common.kinds")
local lfs = require("lfs")
local sentencepiece = require("text.sentencepiece")
local words = require("common.words")

local pieces = {}

local BLANK = "▁"

local function object(value) return setmetatable(value, { __jsontype = "object" }) end
local function array(value) return setmetatable(value, { __jsontype = "array" }) end

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
  if config.keep_accents ~= true then
    list[3], list[4] = object { type = "NFKD" }, object { type = "StripAccents" }
  end
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

local function words_alone(scheme) return cutters { object { type = "WhitespaceSplit" }, metaspace(scheme) } end

-- The functions from here on return a class's vocabulary, a list of { token, score }. names: of the special tokens.

local function as_it_is(model)
  local vocab = {}
  for i, piece in ipairs(model.pieces) do vocab[i] = array { piece.text, piece.score } end
  return array(vocab)
end

-- T5's names of gaps, the last one first.
local function gaps_of(config)
  local list = {}
  for i = math.tointeger(config.extra_ids) - 1, 0, -1 do
    list[#list + 1] = ("<extra_id_%d>"):format(i)
  end
  return list
end

local function with_gaps(model, config)
  local vocab = as_it_is(model)
  for _, name in ipairs(gaps_of(config)) do vocab[#vocab + 1] = array { name, 0.0 } end
  return vocab
end

-- Numbers of fairseq: a list of its own, the pieces from number `from` on, and the mask.
local function numbered(first, from, names, model)
  local vocab = array {}
  for i, entry in ipairs(first) do vocab[i] = array(entry) end
  for i = from, #model.pieces do vocab[#vocab + 1] = array { model.pieces[i].text, model.pieces[i].score } end
  vocab[#vocab + 1] = array { names.mask_token, 0.0 }
  return vocab
end

local function vocab_of_xlm_roberta(model, _, names)
  return numbered({ { names.bos_token, 0.0 }, { names.pad_token, 0.0 }, { names.eos_token, 0.0 },
    { names.unk_token, 0.0 } }, 4, names, model)
end

local function vocab_of_camembert(model, _, names)
  return numbered({ { "<s>NOTUSED", 0.0 }, { names.pad_token, 0.0 }, { "</s>NOTUSED", 0.0 }, { names.unk_token, 0.0 },
    { "<unk>NOTUSED", -100.0 } }, 2, names, model)
end

-- Special tokens in the order in which they get numbers if the vocabulary does not have them.
local SPECIALS = { "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token" }

local function bert(unknown, pad)
  return { bos_token = "[CLS]", eos_token = "[SEP]", unk_token = unknown, sep_token = "[SEP]", pad_token = pad,
    cls_token = "[CLS]", mask_token = "[MASK]" }
end

local roberta = { bos_token = "<s>", eos_token = "</s>", unk_token = "<unk>", sep_token = "</s>", pad_token = "<pad>",
  cls_token = "<s>", mask_token = "<mask>" }

-- A class: `type`: the model_type of folders that name no class; `file`; `names`: special tokens that a folder does
-- not name; normalizer(model, config), cut(scheme, config), vocab(model, config, names); blank: the scheme with
-- add_prefix_space = false; single, pair: what is around a text and a pair, with types of tokens after a colon;
-- more(config, names): further special tokens; counts: settings that are counts, and what they are by default;
-- is_slow: the class is not one of tokenizers, so its special tokens take the spaces around them, and texts contain no
-- others; mask_strips: the mask takes the spaces before it.
local classes = {
  SiglipTokenizer = { type = "siglip", file = "spiece.model", is_slow = true,
    names = { eos_token = "</s>", pad_token = "</s>", unk_token = "<unk>" },
    normalizer = normalizer_of_siglip, cut = function() return metaspace("never") end, vocab = as_it_is,
    single = "A eos_token", pair = "A eos_token B eos_token" },
  T5Tokenizer = { type = "t5", file = "spiece.model",
    names = { eos_token = "</s>", unk_token = "<unk>", pad_token = "<pad>" },
    normalizer = map_of, cut = words_alone, vocab = with_gaps, more = gaps_of, counts = { extra_ids = 100 },
    single = "A eos_token", pair = "A eos_token B eos_token" },
  AlbertTokenizer = { type = "albert", file = "spiece.model", names = bert("<unk>", "<pad>"),
    normalizer = normalizer_of_albert, cut = words_alone, vocab = as_it_is, blank = "never",
    single = "cls_token A sep_token", pair = "cls_token A sep_token B:1 sep_token:1" },
  XLMRobertaTokenizer = { type = "xlm-roberta", file = "sentencepiece.bpe.model", names = roberta,
    normalizer = map_of, cut = words_alone, vocab = vocab_of_xlm_roberta, blank = "never",
    single = "bos_token A eos_token", pair = "bos_token A eos_token eos_token B eos_token" },
  CamembertTokenizer = { type = "camembert", file = "sentencepiece.bpe.model", names = roberta,
    normalizer = map_of, cut = words_alone, vocab = vocab_of_camembert, blank = "never", mask_strips = true,
    single = "bos_token A eos_token", pair = "bos_token A eos_token eos_token B eos_token" },
  DebertaV2Tokenizer = { type = "deberta-v2", file = "spm.model", names = bert("[UNK]", "[PAD]"),
    normalizer = normalizer_of_deberta, cut = cut_of_deberta, vocab = as_it_is, blank = "first",
    single = "cls_token A sep_token", pair = "cls_token A sep_token B:1 sep_token:1" },
}

-- Returns the class of a folder's tokenizer, or nil. config: tokenizer_config.json, or nil; model: config.json, or nil.
local function class_of(config, model)
  local stated = json.kind(config) == "object" and config.tokenizer_class
  if type(stated) == "string" then return classes[(stated:gsub("Fast$", ""))] end
  local of_type = json.kind(model) == "object" and model.model_type
  for _, name in ipairs(words.sorted_keys(classes)) do
    if classes[name].type == of_type then return classes[name] end
  end
  return nil
end

-- Returns a special token's text, and its entry in tokenizer_config.json, or an empty table.
local function named(config, key)
  local given = json.kind(config[key]) == "object" and config[key] or {}
  return given.content or config[key], given
end

-- Returns the tokens that a text may contain as they are, by ascending ids. Tokens that the vocabulary lacks get ids.
local function added_of(class, config, ids, model)
  local list, seen, count = array {}, {}, 0
  for _ in pairs(ids) do count = count + 1 end
  local strips = class.is_slow == true
  local function choose(value, default) if type(value) == "boolean" then return value end return default end
  local function add(content, id, given, lstrip)
    if type(content) ~= "string" or content == "" or seen[content] then return end
    if not id and not class.is_slow then id, count = count, count + 1 end
    if not id then return end
    seen[content], ids[content] = true, ids[content] or id
    list[#list + 1] = object { id = id, content = content, lstrip = choose(given.lstrip, lstrip or strips),
      rstrip = choose(given.rstrip, strips), single_word = given.single_word == true,
      normalized = given.normalized == true, special = choose(given.special, true) }
  end
  local decoder = json.kind(config.added_tokens_decoder) == "object" and config.added_tokens_decoder or {}
  for _, key in ipairs(words.sorted_keys(decoder)) do
    local given = decoder[key]
    if json.kind(given) == "object" then add(given.content, math.tointeger(tonumber(key)), given) end
  end
  for _, key in ipairs(SPECIALS) do
    local content, given = named(config, key)
    add(content, ids[content], given, class.mask_strips and key == "mask_token")
  end
  for _, piece in ipairs(not class.is_slow and model.pieces or {}) do
    if piece.special ~= nil then add(piece.text, ids[piece.text], { special = piece.special }) end
  end
  for _, name in ipairs(class.more and class.more(config) or {}) do add(name, ids[name], {}) end
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
  faults.raise("format", ("%s/%s: %s%s, but %s is allowed"):format(folder, name, what, json.shown(value), allowed))
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

--- True if a folder has a SentencePiece model of a class that is known. config: tokenizer_config.json, or nil; model:
--- config.json, or nil. Faults: format, io: the model is no regular file.
function pieces.is_in(folder, config, model)
  if not has_any(folder) then return false end
  check_class(folder, config)
  local class = class_of(config, model)
  local path = class and folder .. "/" .. class.file
  if not class or not lfs.symlinkattributes(path, "mode") then return false end
  local mode = lfs.attributes(path, "mode")
  if mode ~= "file" then
    faults.raise("io", ("%s: is a %s, but a regular file is allowed"):format(path, mode or "link to nothing"))
  end
  return true
end

--- Returns the equivalent tokenizer.json of a folder with a SentencePiece model, the file's path, and the given
--- tokenizer_config.json with the class's own special tokens. Faults: format, io.
function pieces.read(folder, config, model_config)
  local class = class_of(config, model_config)
  config = json.kind(config) == "object" and config or {}
  check_counts(folder, config, class.counts or {})
  for key, content in pairs(class.names) do if config[key] == nil then config[key] = content end end
  local path = folder .. "/" .. class.file
  local said = kinds.said_of_file(path, "sentencepiece")
  if said then faults.raise("format", ("%s: %s"):format(path, said)) end
  local model, names, ids = sentencepiece.read(files.read_asked(path), path), {}, {}
  for key in pairs(class.names) do
    names[key] = named(config, key)
    if type(names[key]) ~= "string" then
      faults.raise("format", ("%s/tokenizer_config.json: %s: a token is expected"):format(folder, key))
    end
  end
  local vocab = class.vocab(model, config, names)
  for i, entry in ipairs(vocab) do ids[entry[1]] = i - 1 end
  local added = added_of(class, config, ids, model)
  for key in (class.single .. " unk_token"):gmatch("[%l_]+_token") do
    if not ids[names[key]] or key == "unk_token" and ids[names[key]] >= #vocab then
      faults.raise("format", ("%s: has no %s"):format(path, faults.quote(names[key])))
    end
  end
  local scheme = config.add_prefix_space == false and class.blank or "always"
  return object {
    added_tokens = added, normalizer = class.normalizer(model, config), pre_tokenizer = class.cut(scheme, config),
    decoder = class.is_slow and metaspace("never") or metaspace(scheme),
    post_processor = template_of(class, names, ids),
    model = object { type = "Unigram", vocab = vocab, unk_id = ids[names.unk_token] },
  }, path, config
end

return pieces
