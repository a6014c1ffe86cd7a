-- A causal pre-norm model over tokens with sinusoidal positions; query and key blocks are small, so that some are cut
-- and some are never emitted; K goes outermost.
return {
  name = "causal", seq = 40, input = tokens { vocab = 11 }, positions = "sinusoidal",
  d_model = 12, heads = 2, layers = 1, d_ff = 24, norm = "pre", final_norm = true, bias = { qkv = false },
  mask = "causal", output = linear { to = 11, bias = false }, target = "avx512", names = "torch",
  plan = { query_block = 16, key_block = 16, token_block = 20 },
}
