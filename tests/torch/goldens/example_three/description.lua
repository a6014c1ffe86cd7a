-- A golden made by tests/torch/attention.py: three queries, keys and values of the tutorials.
return {
  name = "example_three",
  batch = 1,
  seq = 3,
  key_seq = 3,
  d_model = 3,
  heads = 1,
  scale = false,
  attention_output = "mean",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  projections = false,
}
