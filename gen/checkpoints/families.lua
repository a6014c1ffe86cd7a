-- families: the families of checkpoints that Hugging Face's transformers writes, each a table of
-- data in a file of its own.
--
--   model_types   config.json's model_type -> what its classes are called before ForSequenceClassification and so on
--   called        model_type -> the name that people know it by, for messages
--   prefixes      what may stand before the names of the model's own tensors, tried in order
--   tensors       { path of the graph, name or rule } (names.lua), the first that fits is taken
--   config        { key, aliases .., to = description key or fact, default =, kind = } : kind count, number, flag or
--                 activation; no default: the key must be there
--   fixed         keys of the description that the family always has
--   only          config key -> the values that it may have, as others change the result and are not supported
--   unused        config keys without effect, beyond those of all families (effects.lua)
--   tokens        fields of the input's stage: words are facts
--   heads         class suffix -> stages behind the model (heads.lua)
--   derive        a function of the facts, for what is this family's own arithmetic
local families = {}

local list = { "albert", "bert", "deit", "distilbert", "electra", "gpt2", "llama", "mistral", "mpnet", "qwen2",
  "roberta", "t5", "timm", "vit" }

--- By their names; by model_type; and as schemes of names.
families.by_name, families.by_type, families.schemes = {}, {}, {}
for _, name in ipairs(list) do
  local family = require("checkpoints.families." .. name)
  family.name = name
  families.by_name[name], families.schemes[name] = family, family
  for model_type in pairs(family.model_types or {}) do families.by_type[model_type] = family end
end

--- The names that people know the families by, sorted.
function families.called()
  local result = {}
  for _, family in pairs(families.by_name) do
    for _, name in pairs(family.called or {}) do result[#result + 1] = name end
  end
  table.sort(result, function(a, b) return a:lower() < b:lower() end)
  return result
end

return families
