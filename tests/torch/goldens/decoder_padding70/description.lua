-- A golden made by tests/torch/decoder.py: targets and memories of different lengths, across blocks, no final norm.
return {
  name = "decoder_padding70",
  batch = 3,
  seq = 70,
  d_model = 20,
  heads = 2,
  layers = 1,
  d_ff = 28,
  activation = "relu",
  norm = "post",
  mask = { "causal", "padding" },
  memory = { seq = 66, mask = "padding" },
  names = "torch",
}
