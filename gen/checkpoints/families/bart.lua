-- bart.lua: describes BART (Lewis et al. 2019), which writes summaries: norms after each part, and one of the
-- embeddings.
local seq2seq = require("checkpoints.seq2seq")

return {
  known = "BART: summaries",
  model_types = { bart = "Bart" },
  called = { bart = "BART" },
  prefixes = { "model.", "" },
  tensors = seq2seq.tensors,
  config = seq2seq.config {},
  fixed = { norm = "post", positions = "learned", first_position = 2, input_norm = true },
  encoder = seq2seq.encoder,
  start = 2,
  derive = seq2seq.derive,
  heads = { ForConditionalGeneration = seq2seq.head("final_logits_bias") },
}
