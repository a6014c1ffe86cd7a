-- A golden made by tests/torch/models.py: an input that weighs the heads of each layer.
return {
  name = "bert_head_mask",
  batch = 2,
  seq = 17,
  input = tokens { vocab = 50, norm = true },
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 28,
  activation = "gelu",
  norm = "post",
  eps = 1e-12,
  head_mask = "input",
}
