-- A golden made by tests/torch/encoder.py: each position sees 3 before it, itself and 5 after it.
return {
  name = "torch_window33",
  batch = 2,
  seq = 33,
  d_model = 48,
  heads = 4,
  layers = 2,
  d_ff = 50,
  activation = "gelu_tanh",
  norm = "post",
  final_norm = false,
  mask = { window = { 3, 5 } },
  names = "torch",
}
