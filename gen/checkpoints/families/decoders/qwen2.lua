-- qwen2.lua: describes Qwen 2 and 2.5 (Yang et al. 2024): Llama with biases of query, key and value, and windows in
-- some layers.
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")
local words = require("common.words")

return heads.llama_family {
  known = "Qwen 2 and 2.5",
  model_types = { qwen2 = "Qwen2" },
  config = heads.llama_config(words.merged(layers.of_qwen, { vocab = 151936, d_ff = 22016, longest = 32768,
    kv_heads = 32 }), layers.qwen_keys),
  derive = function(facts)
    facts.bias = { qkv = true, out = false, ff = false }
    layers.set_qwen_windows(facts)
  end,
}
