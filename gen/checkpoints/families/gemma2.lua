-- gemma2.lua: describes Gemma 2 (Gemma Team 2024): Gemma with norms before and after each part, soft caps of scores and
-- logits, and a window in every other layer.
local gemma = require("checkpoints.gemma")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")

return {
  known = "Gemma 2",
  model_types = { gemma2 = "Gemma2" },
  called = { gemma2 = "Gemma 2" },
  prefixes = heads.llama_prefixes,
  tensors = gemma.tensors(gemma.sandwich),
  config = heads.llama_config({ vocab = 256000, width = 2304, d_ff = 9216, layers = 26, heads = 8, kv_heads = 4,
    head_dim = 256, activation_key = "hidden_activation", activation = "gelu_pytorch_tanh", positions = 8192,
    tied = true }, {
    { "attention_bias", to = "attention_bias", default = false, kind = "flag" },
    { "query_pre_attn_scalar", to = "scalar", default = 256, kind = "number" },
    { "sliding_window", to = "window", default = 4096, kind = "count", null = false },
    { "layer_types", to = "layer_types", default = false, kind = "list" },
    { "final_logit_softcapping", to = "logit_softcap", default = 30.0, kind = "number", null = false },
    { "attn_logit_softcapping", to = "softcap", default = 50.0, kind = "number", null = false },
  }),
  fixed = heads.llama_with { norm = "sandwich" },
  rotary = true,
  causal = true,
  pad = 0,
  derive = function(facts)
    gemma.derive(facts)
    facts.score_scale = facts.scalar ^ -0.5
    layers.set_windows(facts, layers.sliding(facts, function(i) return i % 2 == 0 end))
  end,
  heads = heads.decoder,
}
