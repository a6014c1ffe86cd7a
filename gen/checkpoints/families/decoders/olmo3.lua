-- olmo3.lua: describes OLMo 3 (OLMo Team 2025): OLMo 2 with a window in most layers, whose positions are not scaled.
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")
local olmo2 = require("checkpoints.families.decoders.olmo2")

local THETA = 5e5

return heads.llama_family {
  known = "OLMo 3",
  model_types = { olmo3 = "Olmo3" },
  called = { olmo3 = "OLMo 3" },
  tensors = olmo2.tensors,
  config = heads.llama_config { vocab = 50304, d_ff = 11008, longest = 2048, rms_eps = 1e-5, attention_bias = false,
    window = 4096, layer_types = false },
  fixed = olmo2.fixed,
  rotary = false,
  pad = 1,
  derive = function(facts)
    heads.set_biases(facts)
    local sliding = layers.sliding(facts, function(i) return (i + 1) % 4 ~= 0 end)
    layers.set_angles(facts, sliding, {
      full_attention = { rope_theta = facts.rope_theta or THETA, rope_scaling = facts.rope_scaling },
      sliding_attention = { rope_theta = THETA, rope_scaling = false } })
    layers.set_windows(facts, sliding)
  end,
  heads = olmo2.heads,
}
