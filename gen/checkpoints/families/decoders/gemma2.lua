-- gemma2.lua: describes Gemma 2 (Gemma Team 2024): Gemma with norms before and after each part, soft caps of scores and
-- logits, and a window in every other layer.
local gemma = require("checkpoints.gemma")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")

return heads.llama_family {
  known = "Gemma 2",
  model_types = { gemma2 = "Gemma2" },
  called = { gemma2 = "Gemma 2" },
  tensors = gemma.tensors(gemma.sandwich),
  config = heads.llama_config({ vocab = 256000, d_model = 2304, d_ff = 9216, layers = 26, heads = 8, kv_heads = 4,
    head_dim = 256, longest = 8192, tied = true, attention_bias = false, window = 4096, layer_types = false }, {
    { "hidden_activation", to = "activation", default = "gelu_pytorch_tanh", kind = "activation" },
    { "query_pre_attn_scalar", to = "scalar", default = 256, kind = "number" },
    { "final_logit_softcapping", to = "logit_softcap", default = 30.0, kind = "number", null = false },
    { "attn_logit_softcapping", to = "softcap", default = 50.0, kind = "number", null = false },
  }),
  fixed = heads.llama_with { norm = "sandwich" },
  pad = 0,
  derive = function(facts)
    gemma.derive(facts)
    facts.score_scale = facts.scalar ^ -0.5
    layers.set_windows(facts, layers.sliding(facts, function(i) return i % 2 == 0 end))
  end,
  heads = heads.decoder,
}
