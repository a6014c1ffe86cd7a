-- A golden made by tests/torch/decoder.py: pre-norm, more layers in the encoder, ignored source positions.
return {
  name = "transformer_pre",
  batch = 2,
  seq = 9,
  d_model = 28,
  heads = 2,
  layers = 1,
  d_ff = 36,
  activation = "gelu",
  norm = "pre",
  final_norm = true,
  mask = "causal",
  memory = encoder { input = hidden(), seq = 67, layers = 3, mask = "key_padding" },
  names = "torch",
}
