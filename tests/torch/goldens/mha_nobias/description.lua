-- A golden made by tests/torch/attention.py: no bias, one head, more keys than queries.
return {
  name = "mha_nobias",
  batch = 2,
  seq = 9,
  key_seq = 21,
  d_model = 28,
  heads = 1,
  bias = false,
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  names = "torch",
}
