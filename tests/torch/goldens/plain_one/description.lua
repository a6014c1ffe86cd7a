-- A golden made by tests/torch/attention.py: softmax(X X^T) X, and not a weight in it.
return {
  name = "plain_one",
  batch = 2,
  seq = 17,
  d_model = 60,
  heads = 1,
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  projections = false,
  scale = false,
  attention_output = "mean",
}
