-- A golden made by tests/torch/attention.py: eight heads of 768, unscaled: three queries, six keys.
return {
  name = "example_heads6",
  batch = 1,
  seq = 3,
  key_seq = 6,
  d_model = 768,
  heads = 8,
  scale = false,
  attention_output = "heads",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  projections = false,
}
