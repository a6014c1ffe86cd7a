-- A golden made by tests/torch/precision.py: int8, wide enough for tiles of AMX, causal, relu.
return {
  name = "int8_wide",
  batch = 1,
  seq = 2,
  d_model = 64,
  heads = 16,
  layers = 1,
  d_ff = 67,
  activation = "relu",
  norm = "pre",
  mask = "causal",
  precision = { "int8", attention = "f32" },
}
