-- A golden made by tests/torch/attention.py: the attention weights of each head, beside ignored keys.
return {
  name = "mha_weights_heads",
  batch = 2,
  seq = 5,
  key_seq = 70,
  d_model = 36,
  heads = 3,
  mask = "key_padding",
  attention_output = "heads",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  names = "torch",
}
