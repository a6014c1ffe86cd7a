-- A golden made by tests/torch/attention.py: sequence before batch.
return {
  name = "mha_seq_first",
  batch = 3,
  seq = 17,
  key_seq = 21,
  d_model = 36,
  heads = 3,
  kdim = 20,
  layout = "seq_first",
  mask = "key_padding",
  attention_output = "mean",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  names = "torch",
}
