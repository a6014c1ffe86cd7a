-- A golden made by tests/torch/encoder.py: sequences of different lengths; padded rows are computed too.
return {
  name = "torch_padding21",
  batch = 3,
  seq = 21,
  d_model = 40,
  heads = 2,
  layers = 2,
  d_ff = 72,
  activation = "gelu",
  norm = "post",
  final_norm = false,
  mask = "padding",
  names = "torch",
}
