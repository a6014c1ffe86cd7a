-- older.lua: makes the equivalent tokenizer.json for a folder with the files of older tokenizers.
-- The files are vocab.txt, which is BERT's WordPiece or ESM's letters, or vocab.json with merges.txt, which is GPT-2's
-- or RoBERTa's byte-level BPE.
local faults = require("common.faults")
local files = require("common.files")
local json = require("common.json")
local kinds = require("common.kinds")
local specials = require("text.specials")
local words = require("common.words")

local older = {}

local function special(config, key, default) return specials.content(config, key) or default end

local object, array = json.object, json.array

local function added(ids, names)
  local list, seen = {}, {}
  for _, name in ipairs(names) do
    if ids[name] and not seen[name] then
      seen[name] = true
      list[#list + 1] = object { id = ids[name], content = name, lstrip = false, rstrip = false, single_word = false,
        normalized = false, special = true }
    end
  end
  table.sort(list, function(a, b) return a.id < b.id end)
  return array(list)
end

local function choose(value, default) if value == nil then return default end return value end

-- Returns the processor that puts a token before a text and another after it and after its pair, all of type 0.
-- between: the tokens between both texts, a list.
local function around(ids, first, last, between)
  local pieces = {}
  for _, name in ipairs { first, last } do
    pieces[name] = object { id = name, ids = array { ids[name] }, tokens = array { name } }
  end
  local function token(name) return object { SpecialToken = object { id = name, type_id = 0 } } end
  local function text_of(id) return object { Sequence = object { id = id, type_id = 0 } } end
  local pair = array { token(first), text_of("A") }
  for _, name in ipairs(between) do pair[#pair + 1] = token(name) end
  pair[#pair + 1], pair[#pair + 2] = text_of("B"), token(last)
  return object { type = "TemplateProcessing", special_tokens = object(pieces), pair = pair,
    single = array { token(first), text_of("A"), token(last) } }
end

-- Returns the tokenizer of ESM: letters that are tokens, and words of the vocabulary anywhere in a text. Neighbours
-- that are none are one unknown token.
local function from_letters(ids, config)
  local cls, unknown = special(config, "cls_token", "<cls>"), special(config, "unk_token", "<unk>")
  local last, long = special(config, "eos_token", "<eos>"), {}
  for name in pairs(ids) do if utf8.len(name) > 1 then long[#long + 1] = name end end
  return object {
    added_tokens = added(ids, long),
    pre_tokenizer = object { type = "WhitespaceSplit" },
    post_processor = around(ids, cls, last, { last }),
    model = object { type = "BPE", vocab = object(ids), merges = array {}, unk_token = unknown, fuse_unk = true },
  }
end

local function from_vocab_txt(text, path, config)
  local ids, count = {}, 0
  for line in (text:gsub("\n$", "") .. "\n"):gmatch("([^\n]*)\n") do
    ids[words.without_end(line, " \t\r\v\f")] = count
    count = count + 1
  end
  if ids["<cls>"] and ids["<eos>"] and ids["<unk>"] then return from_letters(ids, config) end
  local unknown, cls, sep = special(config, "unk_token", "[UNK]"), special(config, "cls_token", "[CLS]"),
    special(config, "sep_token", "[SEP]")
  for _, name in ipairs { unknown, cls, sep } do
    if not ids[name] then faults.raise("format", "%s: has no %s", path, faults.quote(name)) end
  end
  local names = { special(config, "pad_token", "[PAD]"), unknown, cls, sep, special(config, "mask_token", "[MASK]") }
  return object {
    added_tokens = added(ids, names),
    normalizer = object { type = "BertNormalizer", clean_text = true, lowercase = choose(config.do_lower_case, true),
      handle_chinese_chars = choose(config.tokenize_chinese_chars, true), strip_accents = config.strip_accents },
    pre_tokenizer = object { type = "BertPreTokenizer" },
    post_processor = object { type = "BertProcessing", cls = array { cls, ids[cls] }, sep = array { sep, ids[sep] } },
    decoder = object { type = "WordPiece", prefix = "##", cleanup = true },
    model = object { type = "WordPiece", unk_token = unknown, continuing_subword_prefix = "##",
      max_input_chars_per_word = 100, vocab = object(ids) },
  }
end

local function read_merges(text)
  local merges = {}
  for line in text:gmatch("[^\r\n]+") do
    if line:sub(1, 8) ~= "#version" then merges[#merges + 1] = line end
  end
  return array(merges)
end

-- Returns the tokenizer of the first DeBERTa, whose vocabulary has [CLS]. transformers 5 has two [SEP] in a pair.
local function from_deberta(ids, merges, config)
  local cls, sep, mask = special(config, "cls_token", "[CLS]"), special(config, "sep_token", "[SEP]"),
    special(config, "mask_token", "[MASK]")
  local list = added(ids, { cls, sep, mask, special(config, "pad_token", "[PAD]"),
    special(config, "unk_token", "[UNK]") })
  for _, token in ipairs(list) do token.lstrip = token.content == mask end
  local bytes = object { type = "ByteLevel", add_prefix_space = choose(config.add_prefix_space, false),
    trim_offsets = true, use_regex = true }
  return object { added_tokens = list, pre_tokenizer = bytes, post_processor = around(ids, cls, sep, { sep, sep }),
    decoder = bytes, model = object { type = "BPE", vocab = object(ids), merges = merges } }
end

-- Returns GPT-2's or RoBERTa's tokenizer. RoBERTa's vocabulary has <s>, GPT-2's does not.
local function from_vocab_json(ids, merges, config)
  if ids["[CLS]"] and ids["[SEP]"] and not ids["<s>"] then return from_deberta(ids, merges, config) end
  local is_roberta = ids["<s>"] ~= nil and ids["</s>"] ~= nil
  local cls, sep = special(config, "cls_token", "<s>"), special(config, "sep_token", "</s>")
  local unknown = special(config, "unk_token", is_roberta and "<unk>" or "<|endoftext|>")
  local mask = special(config, "mask_token", "<mask>")
  local names = is_roberta and { cls, special(config, "pad_token", "<pad>"), sep, unknown, mask } or {
    unknown, special(config, "bos_token", "<|endoftext|>"), special(config, "eos_token", "<|endoftext|>") }
  local list = added(ids, names)
  for _, token in ipairs(list) do
    if is_roberta and token.content == mask then token.lstrip = true end
  end
  for _, key in ipairs { "add_bos_token", "add_eos_token" } do
    if config[key] == true and not is_roberta then
      faults.raise("usage", "tokenizer_config.json: %s: true is not supported without tokenizer.json", key)
    end
  end
  local prefix = choose(config.add_prefix_space, false)
  local bytes = object { type = "ByteLevel", add_prefix_space = prefix, trim_offsets = true, use_regex = true }
  local roberta = is_roberta and ids[cls] and ids[sep] and object { type = "RobertaProcessing",
    cls = array { cls, ids[cls] }, sep = array { sep, ids[sep] }, trim_offsets = true, add_prefix_space = prefix }
  return object {
    added_tokens = list,
    pre_tokenizer = bytes,
    post_processor = roberta or object { type = "ByteLevel", add_prefix_space = prefix, trim_offsets = false },
    decoder = object { type = "ByteLevel", add_prefix_space = true, trim_offsets = true, use_regex = true },
    model = object { type = "BPE", vocab = object(ids), merges = merges },
  }
end

-- Returns the text of a file, or nil if there is none. Refuses another kind of file, such as a Git LFS pointer.
local function read_text(path)
  local said = kinds.said_of_file(path, "json")
  if said then faults.raise("format", "%s: %s", path, said) end
  return files.read_if_there(path)
end

--- Returns the equivalent tokenizer.json of a folder, and the file that it is made from, or nil if there is none.
function older.read(folder, config, read_json)
  config = json.kind(config) == "object" and config or {}
  local text = read_text(folder .. "/vocab.txt")
  if text then
    local path = folder .. "/vocab.txt"
    if not utf8.len(text) then faults.raise("format", path .. ": is not UTF-8") end
    return from_vocab_txt(text, path, config), path
  end
  local ids, path = read_json(folder, "vocab.json")
  if not ids then return nil end
  local merges = read_text(folder .. "/merges.txt")
  if not merges then faults.raise("format", path .. ": has no merges.txt next to it") end
  if json.kind(ids) ~= "object" then faults.raise("format", path .. ": an object is expected") end
  return from_vocab_json(ids, read_merges(merges), config), path
end

return older
