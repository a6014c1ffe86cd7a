return { name = "small", d_model = 256, heads = 4, seq = 128, layers = 2, mask = "causal" }
