-- A golden made by tests/torch/encoder.py: post-norm, sizes that no tile divides.
return {
  name = "torch_odd17",
  batch = 2,
  seq = 17,
  d_model = 60,
  heads = 3,
  layers = 2,
  d_ff = 45,
  activation = "relu",
  norm = "post",
  final_norm = false,
  names = "torch",
}
