-- A golden made by tests/torch/decoder.py: encoder and decoder, sources of different lengths.
return {
  name = "transformer_post",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 28,
  activation = "relu",
  norm = "post",
  final_norm = true,
  mask = "causal",
  memory = encoder { input = hidden(), seq = 23, layers = 2, mask = "padding" },
  names = "torch",
}
