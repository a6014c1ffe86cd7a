-- A golden made by tests/torch/encoder.py: no bias anywhere, one head.
return {
  name = "torch_nobias5",
  batch = 2,
  seq = 5,
  d_model = 20,
  heads = 1,
  layers = 2,
  d_ff = 31,
  activation = "silu",
  norm = "pre",
  bias = false,
  final_norm = false,
  names = "torch",
}
