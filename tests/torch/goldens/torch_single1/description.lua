-- A golden made by tests/torch/encoder.py: one layer, one position.
return {
  name = "torch_single1",
  batch = 2,
  seq = 1,
  d_model = 16,
  heads = 2,
  layers = 1,
  d_ff = 24,
  activation = "relu",
  norm = "post",
  final_norm = false,
  names = "torch",
}
