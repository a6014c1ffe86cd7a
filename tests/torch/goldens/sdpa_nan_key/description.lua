-- A golden made by tests/torch/attention.py: nor does a NaN in its key row.
return {
  name = "sdpa_nan_key",
  batch = 2,
  seq = 9,
  key_seq = 21,
  d_model = 28,
  heads = 2,
  mask = "key_padding",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  projections = false,
}
