-- A golden made by tests/torch/attention.py: a 3-D float mask: one for each sequence and head.
return {
  name = "mha_additive_heads",
  batch = 2,
  seq = 17,
  key_seq = 29,
  d_model = 36,
  heads = 3,
  mask = "additive_heads",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  names = "torch",
}
