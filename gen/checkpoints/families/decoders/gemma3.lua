-- gemma3.lua: describes the text part of Gemma 3 (Gemma Team 2025): Gemma 2 without soft caps, with a norm of each
-- head's queries and keys, and with two bases of rotary positions: one for layers with a window, one for the others.
local gemma = require("checkpoints.gemma")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")

local GLOBAL, LOCAL = 1e6, 1e4

local tensors = { { "l*.attn.q_norm.weight", gemma.norm("layers.*.self_attn.q_norm.weight") },
  { "l*.attn.k_norm.weight", gemma.norm("layers.*.self_attn.k_norm.weight") } }
table.move(gemma.sandwich, 1, #gemma.sandwich, 3, tensors)

return heads.llama_family {
  known = "Gemma 3: models of text, and the text part of the others; EmbeddingGemma",
  model_types = { gemma3_text = "Gemma3", gemma3 = "Gemma3" },
  called = { gemma3_text = "Gemma 3 (its text part)" },
  inside = { gemma3 = "text_config" },
  prefixes = { "model.", "language_model.model.", "model.language_model.", "" },
  tensors = gemma.tensors(tensors),
  config = heads.llama_config({ vocab = 262208, d_model = 2304, d_ff = 9216, layers = 26, heads = 8, kv_heads = 4,
    head_dim = 256, longest = 131072, tied = true, attention_bias = false, window = 4096, layer_types = false }, {
    { "hidden_activation", to = "activation", default = "gelu_pytorch_tanh", kind = "activation" },
    { "query_pre_attn_scalar", to = "scalar", default = 256, kind = "number" },
    { "sliding_window_pattern", to = "pattern", default = 6, kind = "count" },
    { "rope_local_base_freq", to = "rope_local_base_freq", default = LOCAL, kind = "number" },
    { "use_bidirectional_attention", to = "both_sides", default = false, kind = "flag", null = false },
    { "final_logit_softcapping", to = "logit_softcap", default = false, kind = "number", null = false },
  }),
  fixed = heads.llama_with { norm = "sandwich", qk_norm = "heads" },
  rotary = false,
  pad = 0,
  derive = function(facts, config)
    gemma.derive(facts)
    facts.score_scale = facts.scalar ^ -0.5
    if facts.both_sides then gemma.see_both_sides(facts) end -- EmbeddingGemma
    if facts.model_type == "gemma3" then -- the class of text and images has no cap, and ties by its own key
      facts.logit_softcap, facts.tied = false, config.tie_word_embeddings ~= false
    end
    local sliding = layers.sliding(facts, function(i) return (i + 1) % facts.pattern ~= 0 end)
    layers.set_angles(facts, sliding, {
      full_attention = { rope_theta = facts.rope_theta or GLOBAL, rope_scaling = facts.rope_scaling },
      sliding_attention = { rope_theta = facts.rope_local_base_freq, rope_scaling = false } })
    layers.set_windows(facts, sliding)
  end,
  heads = gemma.heads { TextForSequenceClassification = heads.last_token },
  notes = gemma.notes("images"),
}
