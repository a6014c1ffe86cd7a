-- A golden made by tests/torch/models.py: relative_key_query.
return {
  name = "bert_relative_query",
  batch = 2,
  seq = 21,
  input = tokens { vocab = 50, norm = true },
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 28,
  activation = "gelu",
  norm = "post",
  eps = 1e-12,
  positions = "relative_key_query",
  max_position = 24,
}
