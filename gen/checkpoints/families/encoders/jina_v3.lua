-- jina_v3.lua: describes jina-embeddings-v3 (Sturua et al. 2024): XLM-RoBERTa with rotary positions. Published folders
-- have XLM-RoBERTa's model_type, code of their own, and an adapter for each task (checkpoints/adapter.lua). Folders of
-- transformers 5 have a model_type of their own.
local heads = require("checkpoints.heads")
local rotary = require("checkpoints.rotary")

local LAYER = "encoder.layers.*."

-- The end of a weight's name in a folder with adapters.
local ORIGINAL = "parametrizations.weight.original"

-- Returns the rule of a weight, which has another name in a folder with adapters.
local function weight(name, fields)
  local rule = fields or {}
  rule[1], rule[2] = name .. "." .. ORIGINAL, name .. ".weight"
  return rule
end

local tensors = {
  -- Without token types as an input, all tokens have the first type.
  { "input.tokens.weight", weight("embeddings.word_embeddings",
    { plus = weight("embeddings.token_type_embeddings", { row = 0 }), when = { "input.types", 0 } }) },
  { "input.tokens.weight", weight("embeddings.word_embeddings") },
  { "input.types.weight", weight("embeddings.token_type_embeddings") },
  { "input.norm", "emb_ln" },
  { "l*.{norm1,norm2}", LAYER .. "{norm1,norm2}" },
  { "l*.attn.{q,k,v}.weight", weight(LAYER .. "mixer.Wqkv", { parts = 3 }) },
  { "l*.attn.{q,k,v}.bias", { LAYER .. "mixer.Wqkv.bias", parts = 3 } },
  { "l*.{attn.out,ff.up,ff.down}.weight", weight(LAYER .. "{mixer.out_proj,mlp.fc1,mlp.fc2}") },
  { "l*.{attn.out,ff.up,ff.down}.bias", LAYER .. "{mixer.out_proj,mlp.fc1,mlp.fc2}.bias" },
}

local model = heads.model("pooler.dense")
model[3].tensors = { weight = {}, bias = { "roberta.pooler.dense.bias", "pooler.dense.bias" } }
for i, name in ipairs { ORIGINAL, "weight" } do
  model[3].tensors.weight[2 * i - 1] = "roberta.pooler.dense." .. name
  model[3].tensors.weight[2 * i] = "pooler.dense." .. name
end

return {
  known = "jina-embeddings-v3, with the adapter of a task",
  model_types = { jina_embeddings_v3 = "JinaEmbeddingsV3", ["xlm-roberta:rotary"] = "XLMRoberta" },
  called = { jina_embeddings_v3 = "jina-embeddings-v3" },
  prefixes = { "roberta.", "" },
  sums_types = true,
  original = ORIGINAL,
  tensors = tensors,
  config = heads.config({ vocab = 250002, d_model = 1024, layers = 24, heads = 16, d_ff = 4096, activation = "gelu",
    longest = 8194, eps = 1e-5, rope_theta = 20000.0, rope_scaling = false, rope_parameters = false, tied = true,
    head_dim = false, types = 1 }, {
    { "rotary_emb_base", to = "rotary_base", default = false, kind = "number", null = false },
  }),
  fixed = { norm = "post", positions = "rope" },
  derive = function(facts)
    facts.rope_base, facts.rope_scale = rotary.of(facts)
    facts.rope_base = facts.rotary_base or facts.rope_base
  end,
  heads = { Model = model },
}
