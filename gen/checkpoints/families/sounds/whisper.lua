-- whisper.lua: describes Whisper (Radford et al. 2022), which writes down what is said: an encoder of features after
-- two convolutions, and BART's decoder with norms before each part.
local seq2seq = require("checkpoints.seq2seq")

local tensors = {
  { "encoder.input.{conv1,conv2}", "encoder.{conv1,conv2}" },
}
table.move(seq2seq.tensors, 1, #seq2seq.tensors, #tensors + 1, tensors)

return seq2seq.family {
  known = "Whisper: speech",
  model_types = { whisper = "Whisper" },
  tensors = tensors,
  config = seq2seq.config { longest = "max_target_positions", also = "num_key_value_heads", more = {
    { "max_source_positions", to = "source_rows", default = 1500, kind = "count" },
    { "num_mel_bins", to = "mels", default = 80, kind = "count" },
    { "median_filter_width", to = "median", default = 7, kind = "count" },
  } },
  defaults = { whisper = { vocab = 51865, d_model = 384, longest = 448, encoder_layers = 4, encoder_heads = 6,
    encoder_d_ff = 1536, layers = 4, heads = 6, d_ff = 1536 } },
  fixed = { norm = "pre", final_norm = true, positions = "learned", bias = { k = false } },
  encoder = { layers = "encoder_layers", heads = "encoder_heads", d_ff = "encoder_d_ff", seq = "source_rows" },
  features = "mels",
  start = 50257,
  derive = function(facts) facts.max_position = facts.longest end,
  heads = { ForConditionalGeneration = {
    writes = true, decodes = true,
    { "pool", over = "last" },
    { "vocabulary", tied = "tied", name = "logits", tensors = { weight = { "proj_out.weight" } } },
  } },
}
