-- A golden made by tests/torch/variants.py: a prefix that reaches into the second block.
return {
  name = "prefix_long",
  batch = 1,
  seq = 70,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 20,
  mask = { prefix = 66 },
}
