-- BERT base with relative positions in every self-attention (position_embedding_type = "relative_key_query"),
-- token types and a pooler.
return {
  name = "bert_relative",
  input = tokens { vocab = 30522, types = 2, norm = true },
  positions = "relative_key_query", max_position = 512,
  seq = 128, d_model = 768, heads = 12, layers = 12, eps = 1e-12,
  mask = "padding",
  output = { hidden(), pool "first", linear { to = 768, activation = "tanh", name = "pooled" } },
}
