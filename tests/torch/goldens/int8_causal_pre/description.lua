-- A golden made by tests/torch/precision.py: int8, a norm before the layer, attention in bf16, feed-forward in f32.
return {
  name = "int8_causal_pre",
  batch = 1,
  seq = 5,
  d_model = 12,
  heads = 2,
  layers = 1,
  d_ff = 10,
  activation = "relu",
  norm = "pre",
  final_norm = true,
  mask = "causal",
  precision = { "int8", attention = "bf16", ff = "f32" },
}
