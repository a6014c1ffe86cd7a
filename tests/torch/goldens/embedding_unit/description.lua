-- A golden made by tests/torch/models.py: a sentence embedding: the mean of its rows, of length 1.
return {
  name = "embedding_unit",
  batch = 3,
  seq = 17,
  input = tokens { vocab = 50 },
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 28,
  mask = "padding",
  output = { pool "mean", normalise { name = "embedding" } },
}
