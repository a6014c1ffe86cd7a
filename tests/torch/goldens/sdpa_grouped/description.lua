-- A golden made by tests/torch/attention.py: six heads on two key heads, values wider than keys.
return {
  name = "sdpa_grouped",
  batch = 2,
  seq = 17,
  key_seq = 70,
  d_model = 60,
  heads = 6,
  kv_heads = 2,
  kdim = 20,
  vdim = 26,
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  projections = false,
}
