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

-- Returns true if tokenizer.json puts a blank before each piece of a text (legacy), false if only before the first,
-- nil if it puts none.
local function legacy_of(root)
  local cut = find(root.pre_tokenizer, "Metaspace")
  if find(root.normalizer, "Prepend") then return true end
  return cut and ({ always = true, first = false })[cut.prepend_scheme]
end

--- Returns a line for each difference. file: the config's name in messages.
function agree.warnings(root, config, file)
  local lines = {}
  if json.kind(config) ~= "object" or json.kind(root) ~= "object" then return lines end
  if follows[config.tokenizer_class] then return lines end
  local function compare(key, here, there)
    if here == there then return end
    lines[#lines + 1] = ("%s: warning: %s is %s here and %s in tokenizer.json, which is followed; AutoTokenizer "
      .. "follows this file"):format(file, key, tostring(here), tostring(there))
  end
  local class, legacy = config.tokenizer_class, legacy_of(root)
  if legacy ~= nil and (class == "LlamaTokenizer" or class == "LlamaTokenizerFast") then
    compare("legacy", config.legacy == true, legacy)
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
