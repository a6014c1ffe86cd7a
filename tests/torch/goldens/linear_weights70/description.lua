-- A golden made by tests/torch/variants.py: the same, causal, longer than a block; the mean weights too.
return {
  name = "linear_weights70",
  batch = 1,
  seq = 70,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 20,
  weighting = "none",
  scale = 0.02,
  mask = "causal",
  attention_output = "mean",
}
