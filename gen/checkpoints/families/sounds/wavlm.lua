-- wavlm.lua: describes WavLM (Chen et al. 2022): wav2vec 2.0's model (wav2vec2.lua), whose attentions add a number for
-- each distance, from one table, times a gate.
local wav2vec2 = require("checkpoints.families.sounds.wav2vec2")
local words = require("common.words")

local attention = "encoder.layers.*.attention."

return words.merged(wav2vec2, {
  known = "WavLM",
  model_types = { wavlm = "WavLM" },
  called = { wavlm = "WavLM" },
  tensors = words.append({}, wav2vec2.tensors, {
    { "positions.bias.weight", "encoder.layers.0.attention.rel_attn_embed.weight" },
    { "l*.attn.gate.factors", attention .. "gru_rel_pos_const" },
    { "l*.attn.gate", attention .. "gru_rel_pos_linear" },
  }),
  config = words.append({}, wav2vec2.config, {
    { "num_buckets", to = "t5_buckets", default = 320, kind = "count" },
    { "max_bucket_distance", to = "t5_distance", default = 800, kind = "count" },
  }),
  fixed = { positions = { "convolution", "t5" }, position_gate = true },
})
