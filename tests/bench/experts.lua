-- experts.lua: describes Qwen3-30B-A3B's shape with 6 layers, in blocks of 4 bits.
return {
  name = "experts", input = tokens { vocab = 151936 }, d_model = 2048, heads = 32, kv_heads = 4, head_dim = 128,
  layers = 6,
  d_ff = 768, gated = true, activation = "silu", norm = "pre", norm_kind = "rms", final_norm = true, bias = false,
  positions = "rope", rope_theta = 1000000, qk_norm = "heads", mask = "causal",
  experts = { count = 128, used = 8, d_ff = 768 }, weights = "int4", context = 1024,
  output = { vocabulary { name = "logits" } },
}
