-- A golden made by tests/torch/attention.py: a row that sees no key gives NaN, as PyTorch's MultiheadAttention does.
return {
  name = "sdpa_empty_nan",
  batch = 2,
  seq = 17,
  key_seq = 23,
  d_model = 28,
  heads = 2,
  mask = "blocked",
  fully_masked = "nan",
  attention_output = "heads",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  projections = false,
}
