-- A golden made by tests/torch/variants.py: scale s itself as the weight, sequences of different lengths.
return {
  name = "linear_weights",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 20,
  weighting = "none",
  scale = 0.1,
  mask = "padding",
}
