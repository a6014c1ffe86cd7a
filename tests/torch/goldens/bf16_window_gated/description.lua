-- A golden made by tests/torch/precision.py: bf16, a window, a gated silu, fewer heads of keys.
return {
  name = "bf16_window_gated",
  batch = 1,
  seq = 5,
  d_model = 16,
  heads = 4,
  layers = 2,
  d_ff = 10,
  kv_heads = 2,
  activation = "silu",
  gated = true,
  norm = "pre",
  mask = { "causal", window = { 2, 0 } },
  precision = { "bf16", attention = "bf16" },
}
