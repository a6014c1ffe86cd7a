-- olmo2.lua: describes OLMo 2 (OLMo Team 2024): Llama with norms after the parts in place of before them, and norms of
-- all queries and all keys of a token.
local heads = require("checkpoints.heads")

return heads.llama_family {
  known = "OLMo 2",
  model_types = { olmo2 = "Olmo2" },
  called = { olmo2 = "OLMo 2" },
  tensors = heads.llama_tensors {
    { "l*.attn.{q,k}_norm", "layers.*.self_attn.{q,k}_norm" },
    { "l*.{norm1,norm2}", "layers.*.post_{attention,feedforward}_layernorm" },
  },
  config = heads.llama_config { vocab = 50304, d_ff = 11008, longest = 2048, rms_eps = 1e-5, attention_bias = false },
  fixed = heads.llama_with { norm = "res_post", qk_norm = "all" },
  pad = 1,
  derive = heads.set_biases,
  heads = { Model = heads.model(), ForCausalLM = heads.causal_lm, ForSequenceClassification = heads.last_token },
}
