-- qwen2_moe.lua: describes the mixtures of experts of Qwen 1.5 and 2 (Yang et al. 2024), with a shared expert.
local experts = require("checkpoints.experts")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")
local words = require("common.words")

return heads.llama_family {
  known = "Qwen1.5-MoE-A2.7B, Qwen2-57B-A14B",
  model_types = { qwen2_moe = "Qwen2Moe" },
  called = { qwen2_moe = "Qwen 1.5 and 2 of experts" },
  tensors = heads.llama_tensors(words.append({
    { "l*.ff.shared.{gate,up,down}", "layers.*.mlp.shared_expert.{gate,up,down}_proj" },
    { "l*.ff.shared_gate", "layers.*.mlp.shared_expert_gate" },
  }, experts.qwen_tensors)),
  config = heads.llama_config(words.merged(layers.of_qwen, { vocab = 151936, d_model = 2048, layers = 24, heads = 16,
    d_ff = 5632, longest = 32768, kv_heads = 16, window = false }), words.append(
    experts.config({ experts_count = 60, experts_used = 4, experts_width = 1408 }, experts.of_qwen), {
    { "sliding_window", to = "window", default = false, kind = "size", null = false },
    { "shared_expert_intermediate_size", to = "shared_width", default = 5632, kind = "count" },
    { "qkv_bias", to = "qkv_bias", default = true, kind = "flag" },
  }, layers.qwen_keys)),
  derive = function(facts, _, names, has)
    facts.bias = { qkv = facts.qkv_bias, out = false, ff = false }
    experts.set(facts, { normalise = facts.normalise, shared = facts.shared_width, shared_gate = true }, names, has)
    if facts.window == 0 then facts.window = false end
    layers.set_qwen_windows(facts)
  end,
  heads = heads.decoder,
}
