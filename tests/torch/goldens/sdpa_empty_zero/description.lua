-- A golden made by tests/torch/attention.py: a row that sees no key gives zeros.
return {
  name = "sdpa_empty_zero",
  batch = 2,
  seq = 17,
  key_seq = 23,
  d_model = 28,
  heads = 2,
  mask = "blocked",
  fully_masked = "zero",
  attention_output = "heads",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  projections = false,
}
