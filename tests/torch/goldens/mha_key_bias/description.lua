-- A golden made by tests/torch/attention.py: a number added to the scores of each key, -inf among them.
return {
  name = "mha_key_bias",
  batch = 2,
  seq = 17,
  key_seq = 23,
  d_model = 36,
  heads = 3,
  mask = "key_bias",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  names = "torch",
}
