-- A golden made by tests/torch/encoder.py: sequence before batch, as PyTorch has it without batch_first.
return {
  name = "torch_seq_first",
  batch = 3,
  seq = 17,
  d_model = 36,
  heads = 3,
  layers = 2,
  d_ff = 40,
  activation = "relu",
  norm = "post",
  final_norm = false,
  layout = "seq_first",
  mask = "padding",
  names = "torch",
}
