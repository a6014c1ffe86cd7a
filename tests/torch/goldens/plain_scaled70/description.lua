-- A golden made by tests/torch/attention.py: the same in three heads, scaled, with ignored keys, longer than a block.
return {
  name = "plain_scaled70",
  batch = 2,
  seq = 70,
  d_model = 36,
  heads = 3,
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  projections = false,
  mask = "key_padding",
}
