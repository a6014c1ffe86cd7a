-- A golden made by tests/torch/decoder.py: pre-norm, causal, some rows of the memory are ignored.
return {
  name = "decoder_pre",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 28,
  activation = "gelu",
  norm = "pre",
  final_norm = true,
  mask = "causal",
  memory = { seq = 23, mask = "key_padding" },
  names = "torch",
}
