-- A golden made by tests/torch/models.py: one channel, one row of patches, sinusoidal positions, post-norm.
return {
  name = "vit_gray",
  batch = 3,
  input = image { channels = 1, height = 5, width = 40, patch = 5 },
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 28,
  activation = "gelu",
  norm = "post",
  eps = 1e-06,
  final_norm = true,
  positions = "sinusoidal",
  output = { pool "mean", linear { to = 3, name = "logits" } },
}
