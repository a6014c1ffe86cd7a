-- A golden made by tests/torch/encoder.py: pre-norm with a norm after the stack, heads three wide, a large eps.
return {
  name = "torch_prenorm9",
  batch = 2,
  seq = 9,
  d_model = 33,
  heads = 11,
  layers = 3,
  d_ff = 47,
  activation = "gelu",
  norm = "pre",
  eps = 0.001,
  final_norm = true,
  names = "torch",
}
