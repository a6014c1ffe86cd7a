-- A model of int8 whose rows are a strip and one more.
return {
  name = "int8", seq = 17, d_model = 16, heads = 1, layers = 1, d_ff = 32, activation = "relu",
  precision = "int8", target = "avx512vnni", bias = false, plan = { panel = 16 },
}
