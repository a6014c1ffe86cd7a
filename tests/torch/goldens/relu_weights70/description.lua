-- A golden made by tests/torch/variants.py: the same with ignored keys, longer than a block.
return {
  name = "relu_weights70",
  batch = 1,
  seq = 70,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 20,
  weighting = "relu",
  scale = 0.05,
  mask = "key_padding",
}
