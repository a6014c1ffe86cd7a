-- A golden made by tests/torch/attention.py: ignored keys, not only at the end.
return {
  name = "mha_key_padding",
  batch = 3,
  seq = 11,
  key_seq = 70,
  d_model = 28,
  heads = 2,
  mask = "key_padding",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  names = "torch",
}
