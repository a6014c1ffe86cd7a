-- A golden made by tests/torch/attention.py: causal with fewer queries than keys: both begin at 0.
return {
  name = "sdpa_causal",
  batch = 2,
  seq = 17,
  key_seq = 29,
  d_model = 44,
  heads = 4,
  scale = 0.45,
  mask = "causal",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  projections = false,
}
