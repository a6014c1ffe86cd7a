-- A text classifier whose self-attention has no parameters: three times softmax(X · Xᵀ) · X over embedded tokens.
-- The mean over the text and a linear layer follow.
return {
  name = "paramfree_classifier",
  input = tokens { vocab = 20000 }, positions = "none",
  seq = 128, d_model = 128, heads = 1, layers = 3,
  projections = false, residual = false, norm = "none", d_ff = 0,
  mask = "padding",
  output = { pool "mean", linear { to = 4, name = "logits" }, argmax { name = "label" } },
}
