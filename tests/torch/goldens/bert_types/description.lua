-- A golden made by tests/torch/models.py: token types, a norm after the embeddings, padding, the pooler.
return {
  name = "bert_types",
  batch = 3,
  seq = 21,
  input = tokens { vocab = 50, types = 2, norm = true },
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 28,
  activation = "gelu",
  norm = "post",
  eps = 1e-12,
  max_position = 40,
  mask = "padding",
  output = {
    hidden(),
    pool "first",
    linear { to = 30, activation = "tanh", name = "pooled" },
  },
}
