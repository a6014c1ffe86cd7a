-- A golden made by tests/torch/variants.py: max(scale s, 0) in place of softmax, causal; the weights too.
return {
  name = "relu_weights",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 20,
  weighting = "relu",
  mask = "causal",
  attention_output = "heads",
}
