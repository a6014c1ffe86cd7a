-- A golden made by tests/torch/precision.py: bf16, norms before the layers, causal, relu.
return {
  name = "bf16_causal_pre",
  batch = 1,
  seq = 5,
  d_model = 12,
  heads = 2,
  layers = 2,
  d_ff = 10,
  activation = "relu",
  norm = "pre",
  final_norm = true,
  mask = "causal",
  precision = { "bf16", attention = "bf16" },
}
