-- A golden made by tests/torch/decoder.py: no bias anywhere, no mask, one target position, one row of memory.
return {
  name = "decoder_nobias",
  batch = 2,
  seq = 1,
  d_model = 20,
  heads = 2,
  layers = 2,
  d_ff = 12,
  activation = "silu",
  norm = "pre",
  final_norm = true,
  bias = false,
  memory = { seq = 1 },
  names = "torch",
}
