-- A golden made by tests/torch/attention.py: self-attention: query, key and value are one input.
return {
  name = "mha_self",
  batch = 2,
  seq = 17,
  d_model = 36,
  heads = 3,
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  names = "torch",
}
