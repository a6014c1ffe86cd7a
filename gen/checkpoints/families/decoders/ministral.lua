-- ministral.lua: describes Ministral 8B (Mistral AI 2024): Mistral in which layers may differ in their window.
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")

return heads.llama_family {
  known = "Ministral 8B",
  model_types = { ministral = "Ministral" },
  config = heads.llama_config { vocab = 32000, d_ff = 14336, longest = 131072, kv_heads = 8, window = 4096,
    layer_types = false },
  derive = function(facts)
    heads.set_biases(facts)
    layers.set_windows(facts, layers.sliding(facts, function() return true end))
  end,
}
