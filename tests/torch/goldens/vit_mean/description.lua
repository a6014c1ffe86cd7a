-- A golden made by tests/torch/models.py: no class token, the mean of 72 patches, all hidden states.
return {
  name = "vit_mean",
  batch = 1,
  seq = 72,
  input = image {
    channels = 3,
    height = 36,
    width = 32,
    patch = 4,
    class_token = false,
  },
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 28,
  activation = "gelu",
  norm = "pre",
  eps = 1e-06,
  final_norm = true,
  attention_output = "mean",
  output = { hidden(), pool "mean", linear { to = 7, name = "logits" } },
}
