-- A golden made by tests/torch/models.py: padding as the tutorials have it: -10000 added to the scores.
return {
  name = "bert_added",
  batch = 3,
  seq = 17,
  input = tokens { vocab = 50, types = 2, norm = true },
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 28,
  activation = "gelu",
  norm = "post",
  eps = 1e-12,
  mask = "padding",
  mask_value = -10000,
  output = {
    hidden(),
    pool "first",
    linear { to = 30, activation = "tanh", name = "pooled" },
  },
}
