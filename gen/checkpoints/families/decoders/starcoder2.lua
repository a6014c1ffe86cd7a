-- starcoder2.lua: describes StarCoder 2 (Lozhkov et al. 2024): rotary positions and a window, with layer norms, biases
-- and a feed-forward without a gate.
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")

return heads.llama_family {
  known = "StarCoder 2",
  model_types = { starcoder2 = "Starcoder2" },
  called = { starcoder2 = "StarCoder 2" },
  tensors = heads.llama_tensors {
    { "l*.ff.{up,down}", "layers.*.mlp.c_{fc,proj}" },
  },
  config = heads.llama_config({ vocab = 49152, d_model = 3072, d_ff = 12288, layers = 30, heads = 24, kv_heads = 2,
    activation = "gelu_pytorch_tanh", longest = 4096, tied = true, window = false }, {
    { "norm_epsilon", to = "eps", default = 1e-5, kind = "number" },
    { "use_bias", to = "use_bias", default = true, kind = "flag" },
  }),
  fixed = { norm = "pre", final_norm = true, positions = "rope" },
  derive = function(facts)
    local has = facts.use_bias
    facts.bias = { qkv = has, out = has, ff = has }
    layers.set_windows(facts, layers.sliding(facts, function() return facts.window ~= false end))
  end,
  heads = heads.decoder,
}
