-- A golden made by tests/torch/attention.py: the same with texts of different lengths and their last states.
return {
  name = "plain_text_padding",
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
  mask = "padding",
  output = { hidden(), pool "mean", linear { to = 5, name = "logits" } },
}
