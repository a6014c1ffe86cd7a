-- A golden made by tests/torch/models.py: gated gelu, one key head, rms norm after the sums, every bias, a large eps.
return {
  name = "gated_bias",
  batch = 2,
  seq = 17,
  d_model = 36,
  heads = 4,
  kv_heads = 1,
  layers = 2,
  d_ff = 28,
  activation = "gelu_tanh",
  gated = true,
  norm = "post",
  norm_kind = "rms",
  eps = 0.02,
}
