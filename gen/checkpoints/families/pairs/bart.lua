-- bart.lua: describes BART (Lewis et al. 2019): summaries; norms after each part, and of the embeddings.
local seq2seq = require("checkpoints.seq2seq")

return seq2seq.family {
  known = "BART: summaries",
  model_types = { bart = "Bart" },
  called = { bart = "BART" },
  fixed = { norm = "post", positions = "learned", first_position = 2, input_norm = true },
  start = 2,
}
