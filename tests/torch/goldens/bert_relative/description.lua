-- A golden made by tests/torch/models.py: relative_key, with a table for more positions than there are.
return {
  name = "bert_relative",
  batch = 2,
  seq = 21,
  input = tokens { vocab = 50, types = 2, norm = true },
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 28,
  activation = "gelu",
  norm = "post",
  eps = 1e-12,
  positions = "relative_key",
  max_position = 30,
  mask = "padding",
}
