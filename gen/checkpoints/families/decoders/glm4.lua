-- glm4.lua: describes GLM-4 (GLM Team 2024): Llama with neighbouring dimensions of a part of each head rotated, and one
-- tensor for gate and up. The later class has norms after the parts, too.
local heads = require("checkpoints.heads")

return heads.llama_family {
  known = "GLM-4 9B and 32B (0414), GLM-Z1, GLM-4 9B chat and GLM-Edge (`-hf`)",
  model_types = { glm4 = "Glm4", glm = "Glm" },
  called = { glm4 = "GLM-4", glm = "GLM" },
  tensors = heads.llama_tensors {
    { "l*.{norm1,norm2}_after", "layers.*.post_{self_attn,mlp}_layernorm" },
    { "l*.ff.{gate,up}", { "layers.*.mlp.gate_up_proj", parts = 2 } },
  },
  config = heads.llama_config { vocab = 151552, d_ff = 13696, layers = 40, longest = 131072, kv_heads = 2,
    head_dim = 128, rms_eps = 1.5625e-7, partial = 0.5, attention_bias = true },
  fixed = heads.llama_with { rope_style = "pairs" },
  pad = 151329,
  derive = function(facts)
    facts.bias = { qkv = facts.attention_bias, out = false, ff = false }
    facts.norm = facts.model_type == "glm4" and "sandwich" or nil
  end,
  heads = heads.decoder,
}
