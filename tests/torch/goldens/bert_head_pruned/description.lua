-- A golden made by tests/torch/models.py: heads weighed by constants, one left out.
return {
  name = "bert_head_pruned",
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
  head_mask = { { 1, 0, 0.5 }, { 0.25, 1, 1 } },
  attention_output = "heads",
}
