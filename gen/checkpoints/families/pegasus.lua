-- pegasus.lua: describes Pegasus (Zhang et al. 2020): norms before each part, sinusoidal positions, no norm of the
-- embeddings.
local seq2seq = require("checkpoints.seq2seq")

return {
  known = "Pegasus: summaries",
  model_types = { pegasus = "Pegasus" },
  prefixes = { "model.", "" },
  tensors = seq2seq.tensors,
  config = seq2seq.config {},
  fixed = { norm = "pre", final_norm = true, positions = "sinusoidal", sinusoids = "halves" },
  encoder = seq2seq.encoder,
  start = 0,
  derive = seq2seq.derive,
  heads = { ForConditionalGeneration = seq2seq.head("final_logits_bias") },
}
