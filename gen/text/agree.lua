-- agree.lua: warns if tokenizer_config.json disagrees with tokenizer.json.
-- For the common families, AutoTokenizer of transformers rebuilds the normalizer and the pre-tokenizer from
-- tokenizer_config.json, and may then give other ids. attn2c follows tokenizer.json.
local faults = require("common.faults")
local json = require("common.json")
local words = require("common.words")

local agree = {}

-- Returns the first component of a kind in a tokenizer stage, also within sequences, or nil.
local function find(value, kind)
  if json.kind(value) ~= "object" then return nil end
  if value.type == kind then return value end
  for _, members in ipairs { "normalizers", "pretokenizers" } do
    for _, member in ipairs(type(value[members]) == "table" and value[members] or {}) do
      local found = find(member, kind)
      if found then return found end
    end
  end
  return nil
end

-- The classes of transformers 4 and 5 that follow tokenizer.json.
local follows = { PreTrainedTokenizerFast = true, TokenizersBackend = true }

-- A key of the config, the component's tokenizer stage, its kind, its key, and the default of transformers' classes.
local compared = {
  { "do_lower_case", "normalizer", "BertNormalizer", "lowercase", true },
  { "strip_accents", "normalizer", "BertNormalizer", "strip_accents", nil },
  { "tokenize_chinese_chars", "normalizer", "BertNormalizer", "handle_chinese_chars", true },
  { "add_prefix_space", "pre_tokenizer", "ByteLevel", "add_prefix_space", false },
}

-- Classes that put a blank before texts unless add_prefix_space is false, and where they put it then: nowhere, or only
-- before the first piece.
local blanks = { AlbertTokenizer = "none", BigBirdTokenizer = "none", CamembertTokenizer = "none",
  DebertaV2Tokenizer = "first", LlamaTokenizer = "none", XLMRobertaTokenizer = "none" }

-- Classes that put texts into small letters by a normalizer of its own, with their default of do_lower_case.
local lowers = { AlbertTokenizer = true, DebertaV2Tokenizer = false, XLNetTokenizer = false }

-- Returns true if tokenizer.json puts a blank before each piece of a text (legacy), false if only before the first,
-- nil if it puts none.
local function legacy_of(root)
  local cut = find(root.pre_tokenizer, "Metaspace")
  if find(root.normalizer, "Prepend") then return true end
  return cut and ({ always = true, first = false })[cut.prepend_scheme]
end

--- Returns a line for each difference. file: the config's name in messages. class: the name of the tokenizer's class,
--- or nil.
function agree.warnings(root, config, file, class)
  local lines = {}
  if json.kind(config) ~= "object" or json.kind(root) ~= "object" then return lines end
  if follows[config.tokenizer_class] then return lines end
  local function compare(key, here, there)
    if here == there then return end
    lines[#lines + 1] = ("%s: warning: %s is %s here and %s in tokenizer.json, which is followed; AutoTokenizer "
      .. "follows this file"):format(file, key, tostring(here), tostring(there))
  end
  local legacy = legacy_of(root)
  if legacy ~= nil and class == "LlamaTokenizer" then compare("legacy", config.legacy == true, legacy) end
  if legacy == true and class == "LlamaTokenizer" and config.legacy == true and find(root.normalizer, "Prepend") then
    lines[#lines + 1] = file .. ": warning: tokenizer.json, which is followed, puts a blank before texts that begin "
      .. "with one, too; AutoTokenizer does not"
  end
  if blanks[class] and (legacy ~= nil or find(root.pre_tokenizer, "Metaspace")) then
    local has_blank = legacy ~= nil
    if blanks[class] == "first" then has_blank = legacy == true end
    compare("add_prefix_space", config.add_prefix_space ~= false, has_blank)
  end
  if lowers[class] ~= nil then
    local wanted = config.do_lower_case
    if wanted == nil then wanted = lowers[class] end
    compare("do_lower_case", wanted, find(root.normalizer, "Lowercase") ~= nil)
  end
  for _, row in ipairs(compared) do
    local key, stage, kind, own, default = table.unpack(row, 1, 5)
    local component = find(root[stage], kind)
    local wanted = config[key]
    if wanted == nil then wanted = default end
    if component then compare(key, wanted, component[own]) end
  end
  return lines
end

local function content(value)
  if json.kind(value) == "object" then value = value.content end
  return type(value) == "string" and value ~= "" and value or nil
end

local flags = { "lstrip", "rstrip", "single_word", "normalized" }

-- Returns the texts of a tokenizer.json's vocabulary with their ids.
local function vocabulary(root)
  local vocab, ids = json.kind(root.model) == "object" and root.model.vocab or nil, {}
  if json.kind(vocab) == "object" then return vocab end
  for i, entry in ipairs(json.kind(vocab) == "array" and vocab or {}) do
    if type(entry) == "table" and type(entry[1]) == "string" then ids[entry[1]] = i - 1 end
  end
  return ids
end

-- Returns the tokens that transformers adds to a tokenizer: the ones in added_tokens_decoder by their ids, then special
-- tokens. Each is { content, entry = its flags, is_listed = its flags come before tokenizer.json's, is_special }.
local function tokens_of(config, map)
  local list, named, decoder = {}, {}, config.added_tokens_decoder
  local function put(value, is_listed)
    local text = content(value)
    if text then
      list[#list + 1] = { content = text, entry = type(value) == "table" and value or {}, is_listed = is_listed }
    end
  end
  local has_decoder, ids = json.kind(decoder) == "object", {}
  for id in pairs(has_decoder and decoder or {}) do ids[#ids + 1] = math.tointeger(tonumber(id)) end
  table.sort(ids)
  for _, id in ipairs(ids) do put(decoder[tostring(id)], true) end
  for _, object in ipairs { config, not has_decoder and json.kind(map) == "object" and map or {} } do
    for _, name in ipairs { "bos", "eos", "unk", "sep", "pad", "cls", "mask" } do
      local text = content(object[name .. "_token"])
      if text then named[text] = true end
      put(object[name .. "_token"])
    end
    for _, key in ipairs { "additional_special_tokens", "extra_special_tokens" } do
      for _, value in pairs(type(object[key]) == "table" and object[key] or {}) do
        if content(value) then named[content(value)] = true end
        put(value)
      end
    end
  end
  for _, each in ipairs(list) do each.is_special = each.entry.special == true or named[each.content] == true end
  return list
end

--- Gives a parsed tokenizer.json the added tokens that transformers makes of other files: added_tokens_decoder has
--- other flags than it, or special tokens are only in its vocabulary. Tokens without an id are left out (agree.tokens).
--- config, map: tokenizer_config.json and special_tokens_map.json, or nil.
function agree.add(root, config, map)
  if json.kind(root) ~= "object" or json.kind(config) ~= "object" then return end
  local added, by_text, ids = root.added_tokens, {}, nil
  if added == nil then added = json.array {} end
  if json.kind(added) ~= "array" then return end
  for _, entry in ipairs(added) do
    if json.kind(entry) == "object" and type(entry.content) == "string" then by_text[entry.content] = entry end
  end
  for _, token in ipairs(tokens_of(config, map)) do
    local entry = by_text[token.content]
    if not entry then ids = ids or vocabulary(root) end
    local is_new = not entry and math.type(ids[token.content]) == "integer"
    if is_new then
      entry = json.object { id = ids[token.content], content = token.content }
      by_text[token.content], added[#added + 1] = entry, entry
    end
    if is_new or entry and token.is_listed then
      for _, flag in ipairs(flags) do entry[flag] = token.entry[flag] == true end
      if token.entry.normalized == nil then entry.normalized = not token.is_special end
      entry.special = token.is_special
    end
  end
  root.added_tokens = added
end

--- Returns a line, or nil, about tokens that the config names and the tokenizer lacks: transformers adds them.
--- has(text): true if the tokenizer has a token. file: the config's name in the line.
function agree.tokens(config, has, file)
  local first, count = nil, 0
  if json.kind(config) ~= "object" then return nil end
  for _, key in ipairs(words.sorted_keys(config)) do
    local is_list = key == "additional_special_tokens" or key == "extra_special_tokens" or key == "added_tokens_decoder"
    for _, value in pairs(is_list and type(config[key]) == "table" and config[key]
      or key:find("_token$") and { config[key] } or {}) do
      local text = content(value)
      if text and not has(text) then first, count = (not first or text < first) and text or first, count + 1 end
    end
  end
  return first and ("%s: warning: names %s%s, which the tokenizer does not have; transformers adds tokens for them")
    :format(file, faults.quote(first), count > 1 and (" and %d more"):format(count - 1) or "")
end

return agree
