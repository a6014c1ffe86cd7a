-- A golden made by tests/torch/attention.py: eight heads of 768, unscaled: three queries, three keys.
return {
  name = "example_heads3",
  batch = 1,
  seq = 3,
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
