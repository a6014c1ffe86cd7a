-- granite.lua: describes Granite 3 (Granite Team 2024): Llama with factors of embeddings, scores, parts and logits.
local heads = require("checkpoints.heads")

local function factor(value) return value ~= 1 and value or nil end

return heads.llama_family {
  known = "Granite 3, dense",
  model_types = { granite = "Granite" },
  config = heads.llama_config({ vocab = 32000, d_ff = 11008, longest = 2048, attention_bias = false,
    mlp_bias = false }, {
    { "embedding_multiplier", to = "embedding_multiplier", default = 1.0, kind = "number" },
    { "residual_multiplier", to = "residual_multiplier", default = 1.0, kind = "number" },
    { "attention_multiplier", to = "attention_multiplier", default = 1.0, kind = "number" },
    { "logits_scaling", to = "logits_scaling", default = 1.0, kind = "number" },
  }),
  derive = function(facts)
    heads.set_biases(facts)
    facts.embedding_scale, facts.residual_scale = factor(facts.embedding_multiplier), factor(facts.residual_multiplier)
    facts.score_scale, facts.logit_scale = facts.attention_multiplier, factor(1 / facts.logits_scaling)
  end,
  heads = { Model = heads.model(), ForCausalLM = heads.causal_lm },
}
