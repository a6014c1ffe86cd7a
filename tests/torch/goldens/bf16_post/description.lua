-- A golden made by tests/torch/precision.py: bf16, norms after the layers, gelu, padding, a linear layer on the mean.
return {
  name = "bf16_post",
  batch = 1,
  seq = 5,
  d_model = 12,
  heads = 2,
  layers = 2,
  d_ff = 10,
  activation = "gelu",
  norm = "post",
  mask = "padding",
  precision = { "bf16", attention = "bf16" },
  output = { pool "mean", linear { to = 5, name = "logits" } },
}
