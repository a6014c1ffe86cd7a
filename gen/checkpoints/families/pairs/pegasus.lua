-- pegasus.lua: describes Pegasus (Zhang et al. 2020): norms before each part, sinusoidal positions, no norm of the
-- embeddings.
local seq2seq = require("checkpoints.seq2seq")

return seq2seq.family {
  known = "Pegasus: summaries",
  model_types = { pegasus = "Pegasus" },
  fixed = { norm = "pre", final_norm = true, positions = "sinusoidal", sinusoids = "halves" },
  start = 0,
}
