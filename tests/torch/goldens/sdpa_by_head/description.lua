-- A golden made by tests/torch/attention.py: keys and values by head, as that function takes them.
return {
  name = "sdpa_by_head",
  batch = 2,
  seq = 17,
  key_seq = 37,
  d_model = 60,
  heads = 6,
  kv_heads = 3,
  kdim = 30,
  vdim = 21,
  kv_layout = "heads_first",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  projections = false,
}
