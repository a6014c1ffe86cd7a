-- mbart.lua: describes mBART and mBART-50 (Liu et al. 2020): BART with norms before each part and after the last.
local seq2seq = require("checkpoints.seq2seq")

return seq2seq.family {
  known = "mBART, mBART-50",
  model_types = { mbart = "MBart" },
  called = { mbart = "mBART" },
  fixed = { norm = "pre", final_norm = true, positions = "learned", first_position = 2, input_norm = true },
}
