-- A golden made by tests/torch/attention.py: a NaN in the value row of an ignored key reaches nothing.
return {
  name = "sdpa_nan_value",
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
