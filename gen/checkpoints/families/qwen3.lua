-- qwen3.lua: describes Qwen 3 (Yang et al. 2025): Llama with a norm of each head's queries and keys, and windows in
-- some layers.
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")

local more = { { "attention_bias", to = "attention_bias", default = false, kind = "flag" } }
table.move(layers.qwen_keys, 1, #layers.qwen_keys, 2, more)

return {
  known = "Qwen 3, Qwen3-Embedding",
  model_types = { qwen3 = "Qwen3" },
  called = { qwen3 = "Qwen3" },
  prefixes = heads.llama_prefixes,
  tensors = heads.llama_tensors {
    { "l*.attn.q_norm", "layers.*.self_attn.q_norm" },
    { "l*.attn.k_norm", "layers.*.self_attn.k_norm" },
  },
  config = heads.llama_config({ vocab = 151936, d_ff = 22016, positions = 32768, kv_heads = 32, head_dim = 128 }, more),
  fixed = heads.llama_with { qk_norm = "heads" },
  rotary = true,
  causal = true,
  derive = function(facts)
    facts.bias = { qkv = facts.attention_bias, out = facts.attention_bias, ff = false }
    layers.set_qwen_windows(facts)
  end,
  heads = heads.llama,
}
