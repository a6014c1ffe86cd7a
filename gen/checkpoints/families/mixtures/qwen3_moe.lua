-- qwen3_moe.lua: describes the mixtures of experts of Qwen 3 (Yang et al. 2025).
local experts = require("checkpoints.experts")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")
local words = require("common.words")

return heads.llama_family {
  known = "Qwen 3: 30B-A3B, 235B-A22B, Qwen3-Coder-30B-A3B",
  model_types = { qwen3_moe = "Qwen3Moe" },
  called = { qwen3_moe = "Qwen 3 of experts" },
  tensors = heads.llama_tensors(words.append({
    { "l*.attn.{q,k}_norm", "layers.*.self_attn.{q,k}_norm" },
  }, experts.qwen_tensors)),
  config = heads.llama_config({ vocab = 151936, d_model = 2048, layers = 24, d_ff = 6144, longest = 32768,
    kv_heads = 4, attention_bias = false, use_window = false, window = false },
    experts.config({ experts_count = 128, experts_used = 8, experts_width = 768 }, experts.of_qwen)),
  fixed = heads.llama_with { qk_norm = "heads" },
  derive = function(facts, _, names, has)
    heads.set_biases(facts)
    experts.set(facts, { normalise = facts.normalise }, names, has)
    layers.set_used_windows(facts, layers.sliding(facts, function() return facts.use_window and facts.window end))
  end,
  heads = heads.decoder,
}
