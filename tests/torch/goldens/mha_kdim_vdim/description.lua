-- A golden made by tests/torch/attention.py: keys and values of widths and a length of their own.
return {
  name = "mha_kdim_vdim",
  batch = 2,
  seq = 17,
  key_seq = 70,
  d_model = 36,
  heads = 3,
  kdim = 44,
  vdim = 28,
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  names = "torch",
}
