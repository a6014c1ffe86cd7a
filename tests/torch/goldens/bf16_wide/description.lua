-- A golden made by tests/torch/precision.py: bf16, wide enough for tiles of AMX, causal, gelu.
return {
  name = "bf16_wide",
  batch = 1,
  seq = 3,
  d_model = 32,
  heads = 2,
  layers = 1,
  d_ff = 34,
  activation = "gelu",
  norm = "post",
  mask = "causal",
  precision = { "bf16", attention = "bf16" },
}
