-- granite.lua: describes Granite 3 (Granite Team 2024): Llama with factors of embeddings, scores, parts and logits.
local heads = require("checkpoints.heads")

-- Returns a factor, or nil for 1.
local function factor(value) return value ~= 1 and value or nil end

return {
  known = "Granite 3, dense",
  model_types = { granite = "Granite" },
  called = { granite = "Granite" },
  prefixes = heads.llama_prefixes,
  tensors = heads.llama_tensors(),
  config = heads.llama_config({ vocab = 32000, d_ff = 11008, positions = 2048 }, {
    { "attention_bias", to = "attention_bias", default = false, kind = "flag" },
    { "mlp_bias", to = "mlp_bias", default = false, kind = "flag" },
    { "embedding_multiplier", to = "embedding_multiplier", default = 1.0, kind = "number" },
    { "residual_multiplier", to = "residual_multiplier", default = 1.0, kind = "number" },
    { "attention_multiplier", to = "attention_multiplier", default = 1.0, kind = "number" },
    { "logits_scaling", to = "logits_scaling", default = 1.0, kind = "number" },
  }),
  fixed = heads.llama_fixed,
  rotary = true,
  causal = true,
  derive = function(facts)
    local has = facts.attention_bias
    facts.bias = { qkv = has, out = has, ff = facts.mlp_bias }
    facts.embedding_scale, facts.residual_scale = factor(facts.embedding_multiplier), factor(facts.residual_multiplier)
    facts.score_scale, facts.logit_scale = facts.attention_multiplier, factor(1 / facts.logits_scaling)
  end,
  heads = { Model = heads.model(), ForCausalLM = heads.causal_lm },
}
