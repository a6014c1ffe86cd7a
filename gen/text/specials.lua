-- specials.lua: finds the special tokens: mask (a word to fill in), CLS (no answer), BOS (begins an empty text), and
-- padding.
-- The folder's files name them. Otherwise they are BERT's or RoBERTa's.
local specials = {}

local usual = { { mask = "[MASK]", cls = "[CLS]", unk = "[UNK]" }, { mask = "<mask>", cls = "<s>", unk = "<unk>" } }

-- Classes of tokenizers whose special tokens are only those that their files name.
local plain = { PreTrainedTokenizerFast = true, TokenizersBackend = true }

--- Returns the content of a token in a file, or nil. It is a string, or an object with a string.
function specials.content(root, key)
  local value = type(root) == "table" and root[key] or nil
  if type(value) == "table" then value = value.content end
  return type(value) == "string" and value or nil
end

-- Returns the id of the token that a file names by `key`. The files are tokenizer_config.json and
-- special_tokens_map.json.
local function stated(find, key, config, map)
  return find(specials.content(config, key)) or find(specials.content(map, key))
end

--- Returns { mask, cls, bos, pad, eos, unk, sep }, the ids of special tokens; a missing token's is nil. model:
--- config.json, or nil.
function specials.find(state, config, map, model)
  local function find(name) return name and (state.model.added_ids[name] or state.model.ids[name]) end
  local found = { mask = stated(find, "mask_token", config, map), cls = stated(find, "cls_token", config, map),
    bos = stated(find, "bos_token", config, map), pad = stated(find, "pad_token", config, map),
    eos = stated(find, "eos_token", config, map), unk = stated(find, "unk_token", config, map),
    sep = stated(find, "sep_token", config, map) }
  local bos = type(model) == "table" and model.bos_token_id
  if not found.bos and math.type(bos) == "integer" and state.model.tokens[bos] then found.bos = bos end
  local has_own = type(config) ~= "table" or not plain[config.tokenizer_class]
  for _, names in ipairs(usual) do
    local mask = find(names.mask)
    if mask then
      found.mask = found.mask or mask
      found.cls = found.cls or (has_own and find(names.cls) or nil)
      found.unk = found.unk or (has_own and find(names.unk) or nil)
    end
  end
  return found
end

return specials
