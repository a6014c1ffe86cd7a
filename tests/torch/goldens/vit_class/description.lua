-- A golden made by tests/torch/models.py: class token, learned positions, no bias of q, k, v, one attention map.
return {
  name = "vit_class",
  batch = 2,
  input = image { channels = 3, height = 20, width = 28, patch = 4 },
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 28,
  activation = "gelu",
  norm = "pre",
  eps = 1e-06,
  final_norm = true,
  bias = { qkv = false },
  scale = 0.35,
  drop_path = 0.1,
  attention_output = { kind = "heads", layers = { 1 } },
  output = { pool "first", linear { to = 7, name = "logits" } },
}
