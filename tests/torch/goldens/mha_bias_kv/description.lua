-- A golden made by tests/torch/attention.py: a learned key and value.
return {
  name = "mha_bias_kv",
  batch = 3,
  seq = 5,
  d_model = 36,
  heads = 2,
  bias_kv = true,
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  names = "torch",
}
