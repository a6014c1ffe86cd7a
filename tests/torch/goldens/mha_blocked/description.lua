-- A golden made by tests/torch/attention.py: a 2-D bool mask.
return {
  name = "mha_blocked",
  batch = 2,
  seq = 70,
  key_seq = 17,
  d_model = 28,
  heads = 2,
  mask = "blocked",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  names = "torch",
}
