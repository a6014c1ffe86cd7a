-- A golden made by tests/torch/attention.py: a key and value of zeros.
return {
  name = "mha_zero_attn",
  batch = 3,
  seq = 5,
  key_seq = 64,
  d_model = 20,
  heads = 2,
  zero_attn = true,
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  names = "torch",
}
