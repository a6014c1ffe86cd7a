-- A plain post-norm encoder of one layer, as small as it can be.
return { name = "post", seq = 6, d_model = 8, heads = 2, layers = 1, d_ff = 20, activation = "relu", target = "avx512" }
