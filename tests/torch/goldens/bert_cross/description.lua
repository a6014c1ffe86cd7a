-- A golden made by tests/torch/models.py: cross-attention to a memory of a width of its own.
return {
  name = "bert_cross",
  batch = 2,
  seq = 17,
  input = tokens { vocab = 50, types = 2, norm = true },
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 28,
  activation = "gelu",
  norm = "post",
  eps = 1e-12,
  mask = { "causal", "padding" },
  memory = { seq = 13, width = 44, mask = "padding" },
  attention_output = "mean",
}
