-- mistral.lua: describes Mistral (Jiang et al. 2023): Llama in which a token sees a window of earlier tokens.
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")

return heads.llama_family {
  known = "Mistral 7B, with its window",
  model_types = { mistral = "Mistral" },
  config = heads.llama_config { vocab = 32000, d_ff = 14336, longest = 131072, kv_heads = 8, window = 4096 },
  derive = function(facts)
    heads.set_biases(facts)
    layers.set_windows(facts, layers.sliding(facts, function() return true end))
  end,
}
