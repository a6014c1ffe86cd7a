-- A golden made by tests/torch/variants.py: sinusoidal positions on an odd width.
return {
  name = "sinusoidal_odd",
  batch = 2,
  seq = 17,
  d_model = 33,
  heads = 3,
  layers = 1,
  d_ff = 20,
  positions = "sinusoidal",
}
