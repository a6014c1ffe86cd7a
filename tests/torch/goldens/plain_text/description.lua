-- A golden made by tests/torch/attention.py: a text classifier: three such layers between a table and a mean.
return {
  name = "plain_text",
  batch = 3,
  seq = 21,
  d_model = 20,
  heads = 1,
  layers = 3,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = tokens { vocab = 50 },
  positions = "none",
  projections = false,
  scale = false,
  output = { pool "mean", linear { to = 5, name = "logits" } },
}
