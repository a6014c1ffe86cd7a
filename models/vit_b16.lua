-- ViT-B/16: 196 patches and a class token, pre-norm. Outputs are class scores and the last layer's attention weights.
return {
  name = "vit_b16",
  input = image { channels = 3, height = 224, width = 224, patch = 16 },
  d_model = 768, heads = 12, layers = 12, norm = "pre", eps = 1e-6, final_norm = true,
  drop_path = 0.1, -- used in training only
  attention_output = { kind = "heads", layers = { 11 } },
  output = { pool "first", linear { to = 1000, name = "logits" }, argmax { name = "label" } },
}
