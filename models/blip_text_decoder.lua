-- The image-grounded text decoder of BLIP: causal self-attention over the text, and cross-attention to an image. The
-- image's tokens have another width. The model is post-norm, and gives scores for each token of the vocabulary.
return {
  name = "blip_text_decoder",
  input = tokens { vocab = 30524, norm = true }, max_position = 512,
  seq = 32, d_model = 768, heads = 12, layers = 12, eps = 1e-12,
  mask = "causal",
  memory = { seq = 577, width = 1024 },
  output = { linear { to = 768, activation = "gelu" }, norm(), vocabulary { bias = true } },
}
