-- A golden made by tests/torch/precision.py: int8, a norm after the layer, gelu, padding, attention in f32.
return {
  name = "int8_post",
  batch = 1,
  seq = 5,
  d_model = 12,
  heads = 2,
  layers = 1,
  d_ff = 10,
  activation = "gelu",
  norm = "post",
  mask = "padding",
  precision = { "int8", attention = "f32" },
  output = { pool "mean", linear { to = 5, name = "logits" } },
}
