-- A golden made by tests/torch/variants.py: a scale of no power of two.
return {
  name = "scale_odd",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 20,
  scale = 0.7071,
  mask = "causal",
}
