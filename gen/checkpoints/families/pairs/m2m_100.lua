-- m2m_100.lua: describes M2M-100 (Fan et al. 2020) and NLLB (2022): norms before each part, fairseq's sinusoidal
-- positions from the one after the padding's id on.
local seq2seq = require("checkpoints.seq2seq")

return seq2seq.family {
  known = "M2M-100, WMT 21, NLLB-200 (dense)",
  model_types = { m2m_100 = "M2M100" },
  called = { m2m_100 = "M2M-100, NLLB" },
  config = seq2seq.config { vocab = 128112, activation = "relu", scales = true,
    more = { { "pad_token_id", to = "pad", default = 1, kind = "size" } } },
  fixed = { norm = "pre", final_norm = true, positions = "sinusoidal", sinusoids = "fairseq" },
  positions_after_pad = true,
  start = 2,
  heads = { ForConditionalGeneration = seq2seq.head() },
}
