-- agree.lua: warns if tokenizer_config.json disagrees with tokenizer.json.
-- For the common families, AutoTokenizer of transformers rebuilds the normalizer and the pre-tokenizer from
-- tokenizer_config.json, and may then give other ids. attn2c follows tokenizer.json.
local json = require("common.json")

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

-- Each row: a key of the config, the component's tokenizer stage, its kind, its key, and the default of transformers'
-- classes.
local compared = {
  { "do_lower_case", "normalizer", "BertNormalizer", "lowercase", true },
  { "strip_accents", "normalizer", "BertNormalizer", "strip_accents", nil },
  { "tokenize_chinese_chars", "normalizer", "BertNormalizer", "handle_chinese_chars", true },
  { "add_prefix_space", "pre_tokenizer", "ByteLevel", "add_prefix_space", false },
}

--- Returns a line for each difference. file: the config's name in messages.
function agree.warnings(root, config, file)
  local lines = {}
  if json.kind(config) ~= "object" or json.kind(root) ~= "object" then return lines end
  if follows[config.tokenizer_class] then return lines end
  for _, row in ipairs(compared) do
    local key, stage, kind, own, default = table.unpack(row, 1, 5)
    local component = find(root[stage], kind)
    local wanted = config[key]
    if wanted == nil then wanted = default end
    if component and component[own] ~= wanted then
      lines[#lines + 1] = ("%s: warning: %s is %s here and %s in tokenizer.json, which is followed; AutoTokenizer "
        .. "follows this file"):format(file, key, tostring(wanted), tostring(component[own]))
    end
  end
  return lines
end

return agree
