-- A model of bf16 for two targets: one has products of bf16, the other widens them. Workers divide its blocks of rows.
return {
  name = "bf16", seq = 20, d_model = 16, heads = 1, layers = 1, d_ff = 64, activation = "gelu", precision = "bf16",
  target = { "avx512bf16", "avx2" }, bias = false, plan = { panel = 32, token_block = 10 },
}
