-- A golden made by tests/torch/models.py: relative positions after a past that reaches over a block.
return {
  name = "bert_past_relative",
  batch = 2,
  seq = 5,
  past = 66,
  input = tokens { vocab = 50, norm = true },
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 28,
  activation = "gelu",
  norm = "post",
  eps = 1e-12,
  positions = "relative_key",
  max_position = 80,
  mask = "causal",
}
