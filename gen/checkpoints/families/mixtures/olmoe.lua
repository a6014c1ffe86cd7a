-- olmoe.lua: describes OLMoE (Muennighoff et al. 2024): Llama with a norm of all heads' queries and keys, and a mixture
-- of experts in each layer.
local experts = require("checkpoints.experts")
local heads = require("checkpoints.heads")
local words = require("common.words")

return heads.llama_family {
  known = "OLMoE 1B-7B",
  model_types = { olmoe = "Olmoe" },
  called = { olmoe = "OLMoE" },
  tensors = heads.llama_tensors(words.append({
    { "l*.attn.{q,k}_norm", "layers.*.self_attn.{q,k}_norm" },
  }, experts.qwen_tensors)),
  config = heads.llama_config({ vocab = 50304, d_model = 2048, layers = 16, heads = 16, d_ff = 2048, longest = 4096,
    kv_heads = 16, attention_bias = false, rms_eps = 1e-5 },
    experts.config({ experts_count = 64, experts_used = 8 }, words.append({
      { "clip_qkv", to = "qkv_limit", default = false, kind = "number" },
    }, experts.normalised))),
  fixed = heads.llama_with { qk_norm = "all" },
  derive = function(facts, _, names, has)
    heads.set_biases(facts)
    experts.set(facts, { normalise = facts.normalise }, names, has)
  end,
  heads = { Model = heads.model(), ForCausalLM = heads.causal_lm },
}
