-- A golden made by tests/torch/variants.py: additive scores, one head, times 1.7, in a window over two blocks.
return {
  name = "additive_scaled",
  batch = 1,
  seq = 70,
  d_model = 30,
  heads = 1,
  layers = 1,
  d_ff = 20,
  scoring = "additive",
  scale = 1.7,
  mask = { window = { 9, 4 } },
}
