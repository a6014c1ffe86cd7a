-- A golden made by tests/torch/encoder.py: causal and no further back than 6.
return {
  name = "torch_causal_window29",
  batch = 1,
  seq = 29,
  d_model = 36,
  heads = 2,
  layers = 2,
  d_ff = 52,
  activation = "relu",
  norm = "pre",
  final_norm = true,
  mask = { "causal", window = { 6, 0 } },
  names = "torch",
}
