-- A golden made by tests/torch/encoder.py: causal, longer than one block of 64.
return {
  name = "torch_causal70",
  batch = 1,
  seq = 70,
  d_model = 80,
  heads = 4,
  layers = 1,
  d_ff = 48,
  activation = "relu",
  norm = "post",
  final_norm = false,
  mask = "causal",
  names = "torch",
}
