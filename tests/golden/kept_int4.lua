-- A model that keeps keys and values in 4 bits: heads that are turned, pages that calls add to and that a token reads.
return {
  name = "kept_int4", input = tokens { vocab = 30 }, context = 200, chunk = 20, d_model = 32, heads = 2, kv_heads = 1,
  layers = 1, d_ff = 32, activation = "relu", target = "avx512vnni", bias = false, mask = "causal", cache = "int4",
  output = { vocabulary {} },
}
