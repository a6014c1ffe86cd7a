-- A golden made by tests/torch/precision.py: bf16, cross-attention to a memory of a width of its own, gelu.
return {
  name = "bf16_cross",
  batch = 1,
  seq = 5,
  d_model = 12,
  heads = 2,
  layers = 1,
  d_ff = 10,
  activation = "gelu",
  norm = "post",
  mask = "causal",
  memory = { seq = 6, width = 14 },
  precision = { "bf16", attention = "bf16" },
}
