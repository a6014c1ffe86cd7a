-- mistral3.lua: describes the text part of Mistral Small 3.1 and Ministral 3 (Mistral AI 2025): Mistral, with queries
-- that grow with the logarithm of their position in Ministral 3.
local heads = require("checkpoints.heads")
local json = require("common.json")
local layers = require("checkpoints.layers")
local words = require("common.words")

-- The rotary positions of Ministral 3 without any in config.json.
local USUAL = { type = "yarn", rope_theta = 1e6, factor = 16.0, original_max_position_embeddings = 16384,
  beta_fast = 32.0, beta_slow = 1.0, mscale_all_dim = 1.0, mscale = 1.0, llama_4_scaling_beta = 0.1 }

return heads.llama_family {
  known = "Mistral Small 3.1 and 3.2, Ministral 3: their text part",
  model_types = { mistral3 = "Mistral3", ministral3 = "Ministral3" },
  called = { mistral3 = "Mistral 3 (its text part)" },
  inside = { mistral3 = "text_config" },
  prefixes = { "model.", "language_model.model.", "model.language_model.", "" },
  config = heads.llama_config { vocab = 131072, d_ff = 14336, layers = 34, longest = 262144, kv_heads = 8,
    head_dim = 128, rms_eps = 1e-5, window = false },
  derive = function(facts, config)
    heads.set_biases(facts)
    local part = facts.model_type == "mistral3" and json.given(config, "text_config", {}) or config
    if part.model_type == "ministral3" and not facts.rope_parameters and not facts.rope_scaling then
      facts.rope_parameters = USUAL
    end
    if facts.model_type == "mistral3" then facts.tied = config.tie_word_embeddings ~= false end
    facts.grows = part.model_type == "ministral3"
    layers.set_windows(facts, layers.sliding(facts, function() return facts.window ~= false end))
  end,
  heads = words.merged(heads.llama, {
    ForConditionalGeneration = heads.causal_lm_named("lm_head.weight", "language_model.lm_head.weight"),
  }),
  notes = { ForConditionalGeneration = "only the text part is built; images are not supported" },
}
