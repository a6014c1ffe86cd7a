-- mixtral.lua: describes Mixtral (Jiang et al. 2024): Mistral with a mixture of experts in each layer.
local experts = require("checkpoints.experts")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")

return heads.llama_family {
  known = "Mixtral 8x7B and 8x22B",
  model_types = { mixtral = "Mixtral" },
  tensors = heads.llama_tensors(experts.tensors({ "block_sparse_moe.gate", "mlp.gate" },
    "block_sparse_moe.experts.{expert}.{w1,w3,w2}")),
  config = heads.llama_config({ vocab = 32000, d_ff = 14336, longest = 131072, kv_heads = 8, window = false,
    rms_eps = 1e-5, rope_theta = 1e6 }, experts.config { experts_width = false }),
  derive = function(facts, _, names, has)
    heads.set_biases(facts)
    experts.set(facts, nil, names, has)
    layers.set_windows(facts, layers.sliding(facts, function() return true end))
  end,
}
