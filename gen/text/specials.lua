-- specials.lua: which token stands for a word to be filled in: as the folder's files call it, else as BERT and RoBERTa
-- do.
local specials = {}

-- The content of a token in a file: a text, or an object with one.
local function content(root, key)
  local value = type(root) == "table" and root[key] or nil
  if type(value) == "table" then value = value.content end
  return type(value) == "string" and value or nil
end

--- The id of the mask token; nil where there is none. Files: tokenizer_config.json, special_tokens_map.json.
function specials.mask(state, ...)
  local names = {}
  for i = 1, select("#", ...) do names[#names + 1] = content((select(i, ...)), "mask_token") end
  for _, name in ipairs { "[MASK]", "<mask>" } do names[#names + 1] = name end
  for _, name in ipairs(names) do
    local id = state.model.added_ids[name] or state.model.ids[name]
    if id then return id end
  end
  return nil
end

return specials
