-- A golden made by tests/torch/attention.py: the attention weights, averaged over heads.
return {
  name = "mha_weights_mean",
  batch = 2,
  seq = 17,
  key_seq = 23,
  d_model = 36,
  heads = 3,
  attention_output = "mean",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  names = "torch",
}
