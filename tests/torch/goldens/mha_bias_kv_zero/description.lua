-- A golden made by tests/torch/attention.py: two more keys that no mask touches: a learned one and one of zeros.
return {
  name = "mha_bias_kv_zero",
  batch = 2,
  seq = 17,
  key_seq = 63,
  d_model = 36,
  heads = 3,
  bias_kv = true,
  zero_attn = true,
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  names = "torch",
}
