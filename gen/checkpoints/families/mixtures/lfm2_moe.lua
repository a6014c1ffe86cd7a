-- lfm2_moe.lua: describes LFM2's mixtures of experts (Liquid AI 2025).
local experts = require("checkpoints.experts")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")
local lfm2 = require("checkpoints.families.decoders.lfm2")
local words = require("common.words")

return heads.llama_family {
  known = "LFM2 8B-A1B",
  model_types = { lfm2_moe = "Lfm2Moe" },
  called = { lfm2_moe = "LFM2 of experts" },
  tensors = heads.llama_tensors(words.append({
    { "l*.ff.router.correction", "layers.*.feed_forward.expert_bias" },
  }, experts.tensors({ "feed_forward.gate" }, "feed_forward.experts.{expert}.{w1,w3,w2}"), lfm2.layer_tensors)),
  config = lfm2.config_of({ d_model = 2048, d_ff = 7168 }, experts.config({ experts_count = 32, experts_used = 4,
    experts_width = 1792 }, {
    { "norm_topk_prob", to = "normalise", default = true, kind = "flag" },
    { "num_dense_layers", to = "dense_count", default = 2, kind = "size" },
    { "use_expert_bias", to = "corrects", default = true, kind = "flag" },
    { "routed_scaling_factor", to = "factor", default = 1.0, kind = "number" },
  })),
  fixed = lfm2.fixed,
  derive = function(facts, _, names, has)
    lfm2.set_layers(facts, function() return true end)
    experts.set(facts, { router = "sigmoid", correction = facts.corrects, normalise = facts.normalise,
      sum_eps = 1e-6, factor = facts.factor }, names, has)
    for i = 0, math.min(facts.dense_count, facts.layers) - 1 do layers.own(facts, i).experts = false end
  end,
  heads = lfm2.heads,
}
