-- BERT-base's encoder: hidden states in, hidden states out.
return {
  name = "bert_base", seq = 128, d_model = 768, heads = 12, layers = 12, d_ff = 3072,
  activation = "gelu", norm = "post", eps = 1e-12, names = "torch",
}
