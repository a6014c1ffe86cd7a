-- A golden made by tests/torch/attention.py: a row of -inf in a float mask sees no key and gives zeros.
return {
  name = "sdpa_empty_additive",
  batch = 2,
  seq = 17,
  key_seq = 23,
  d_model = 28,
  heads = 2,
  mask = "additive",
  attention_output = "mean",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  projections = false,
}
