-- A model of int8 of any length: rows of a block are quantised, and sums of a strip are on the stack.
return {
  name = "any_int8", seq = any(70), d_model = 16, heads = 1, layers = 1, d_ff = 32, activation = "relu",
  precision = "int8", target = "avx2", bias = false, plan = { panel = 16 },
}
