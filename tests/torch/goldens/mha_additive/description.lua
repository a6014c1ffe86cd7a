-- A golden made by tests/torch/attention.py: a 2-D float mask, -inf among its numbers.
return {
  name = "mha_additive",
  batch = 2,
  seq = 17,
  key_seq = 70,
  d_model = 28,
  heads = 2,
  mask = "additive",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  names = "torch",
}
