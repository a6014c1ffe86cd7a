-- qwen3.lua: describes Qwen 3 (Yang et al. 2025): Llama with a norm of each head's queries and keys, and windows in
-- some layers.
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")
local words = require("common.words")

return heads.llama_family {
  known = "Qwen 3, Qwen3-Embedding",
  model_types = { qwen3 = "Qwen3" },
  tensors = heads.llama_tensors {
    { "l*.attn.{q,k}_norm", "layers.*.self_attn.{q,k}_norm" },
  },
  config = heads.llama_config(words.merged(layers.of_qwen, { vocab = 151936, d_ff = 22016, longest = 32768,
    kv_heads = 32, head_dim = 128, attention_bias = false }), layers.qwen_keys),
  fixed = heads.llama_with { qk_norm = "heads" },
  derive = function(facts)
    heads.set_biases(facts)
    layers.set_qwen_windows(facts)
  end,
}
