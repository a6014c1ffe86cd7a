-- A golden made by tests/torch/attention.py: query, key and value of the same length.
return {
  name = "mha_plain",
  batch = 2,
  seq = 17,
  d_model = 60,
  heads = 3,
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  names = "torch",
}
