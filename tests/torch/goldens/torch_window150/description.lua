-- A golden made by tests/torch/encoder.py: a window to both sides of a sequence of three blocks.
return {
  name = "torch_window150",
  batch = 1,
  seq = 150,
  d_model = 44,
  heads = 2,
  layers = 2,
  d_ff = 50,
  activation = "gelu",
  norm = "pre",
  dropout = 0.1,
  final_norm = true,
  mask = { window = { 16, 9 } },
  names = "torch",
}
