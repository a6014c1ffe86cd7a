-- The worked example of self-attention by hand: query, key and value are inputs, and nothing is projected or
-- scaled. Outputs are softmax(Q · Kᵀ) and its product with V.
return {
  name = "worked_example",
  input = qkv(), seq = 3, d_model = 3, heads = 1, layers = 1,
  projections = false, scale = false,
  residual = false, norm = "none", d_ff = 0,
  attention_output = { kind = "heads", scores = true },
}
