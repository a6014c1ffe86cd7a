-- A golden made by tests/torch/models.py: relative_key_query longer than a block, the smallest table.
return {
  name = "bert_relative70",
  batch = 1,
  seq = 70,
  input = tokens { vocab = 50 },
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 28,
  activation = "gelu",
  norm = "post",
  eps = 1e-12,
  positions = "relative_key_query",
}
