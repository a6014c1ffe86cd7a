-- mistral.lua: describes Mistral (Jiang et al. 2023): Llama in which a token sees a window of earlier tokens.
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")

return {
  known = "Mistral 7B, with its window",
  model_types = { mistral = "Mistral" },
  called = { mistral = "Mistral" },
  prefixes = heads.llama_prefixes,
  tensors = heads.llama_tensors(),
  config = heads.llama_config({ vocab = 32000, d_ff = 14336, positions = 131072, kv_heads = 8 }, {
    { "sliding_window", to = "window", default = 4096, kind = "count", null = false },
  }),
  fixed = heads.llama_fixed,
  rotary = true,
  causal = true,
  derive = function(facts)
    facts.bias = { qkv = false, out = false, ff = false }
    layers.set_windows(facts, layers.sliding(facts, function() return true end))
  end,
  heads = heads.llama,
}
