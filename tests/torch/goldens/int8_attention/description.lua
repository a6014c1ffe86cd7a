-- A golden made by tests/torch/precision.py: attention in int8, padding, keys without their mean, feed-forward in f32.
return {
  name = "int8_attention",
  batch = 1,
  seq = 5,
  d_model = 12,
  heads = 2,
  layers = 1,
  d_ff = 10,
  activation = "relu",
  norm = "pre",
  final_norm = true,
  mask = "padding",
  precision = { "int8", attention = "int8", ff = "f32" },
}
