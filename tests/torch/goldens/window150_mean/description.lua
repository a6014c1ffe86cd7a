-- A golden made by tests/torch/models.py: a window over three blocks, one row out of it.
return {
  name = "window150_mean",
  batch = 2,
  seq = 150,
  d_model = 20,
  heads = 2,
  layers = 1,
  d_ff = 28,
  activation = "relu",
  mask = { window = { left = 16, right = 9 } },
  output = { pool "mean", linear { to = 5, name = "logits" } },
}
