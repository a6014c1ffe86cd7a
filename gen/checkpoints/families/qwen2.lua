-- qwen2.lua: describes Qwen 2 and 2.5 (Yang et al. 2024): Llama with biases of query, key and value, and windows in
-- some layers.
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")

return {
  known = "Qwen 2 and 2.5",
  model_types = { qwen2 = "Qwen2" },
  called = { qwen2 = "Qwen2" },
  prefixes = heads.llama_prefixes,
  tensors = heads.llama_tensors(),
  config = heads.llama_config({ vocab = 151936, d_ff = 22016, positions = 32768, kv_heads = 32 }, layers.qwen_keys),
  fixed = heads.llama_fixed,
  rotary = true,
  causal = true,
  derive = function(facts)
    facts.bias = { qkv = true, out = false, ff = false }
    layers.set_qwen_windows(facts)
  end,
  heads = heads.llama,
}
