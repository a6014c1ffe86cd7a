-- A golden made by tests/torch/attention.py: is_causal.
return {
  name = "mha_causal",
  batch = 1,
  seq = 70,
  d_model = 36,
  heads = 2,
  mask = "causal",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  names = "torch",
}
