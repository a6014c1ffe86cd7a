-- A model of bf16 of any length: loops over rows, sequences, panels of keys and queries, with a mask that cuts.
return {
  name = "any_bf16", seq = any(70), d_model = 16, heads = 1, layers = 1, d_ff = 32, activation = "relu",
  precision = "bf16", target = "avx512bf16", bias = false, mask = { "causal", window = { 40, 0 } },
}
