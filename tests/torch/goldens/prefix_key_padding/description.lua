-- A golden made by tests/torch/variants.py: a prefix, and ignored keys in it.
return {
  name = "prefix_key_padding",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 20,
  mask = { "key_padding", prefix = 5 },
}
