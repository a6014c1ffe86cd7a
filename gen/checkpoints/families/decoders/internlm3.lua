-- internlm3.lua: describes InternLM 3 (Shanghai AI Laboratory 2025): Llama with heads of a width of their own.
local heads = require("checkpoints.heads")

return heads.llama_family {
  known = "InternLM 3",
  model_types = { internlm3 = "InternLM3" },
  called = { internlm3 = "InternLM 3" },
  class = "Llama",
  config = heads.llama_config({ vocab = 128512, d_ff = 10240, layers = 48, longest = 32768, kv_heads = 2,
    head_dim = 128, rms_eps = 1e-5 }, {
    { "qkv_bias", "attention_bias", to = "attention_bias", default = false, kind = "flag" },
    { "bias", "mlp_bias", to = "mlp_bias", default = false, kind = "flag" },
  }),
  pad = 2,
  derive = heads.set_biases,
}
