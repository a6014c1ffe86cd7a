-- A golden made by tests/torch/decoder.py: post-norm, causal, a memory of another length.
return {
  name = "decoder_post",
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
  memory = { seq = 23 },
  names = "torch",
}
