-- A padded window over three sequences, two at a time, features in, pooled to a label; two outputs, so that one that is
-- not wanted has a place in the arena.
return {
  name = "window", batch = 3, seq = 24, input = linear { from = 5 },
  d_model = 8, heads = 1, layers = 1, d_ff = 16, activation = "gelu_tanh", mask = { "padding", window = { 2, 3 } },
  output = { pool "mean", linear { to = 4, name = "logits" }, argmax() },
  target = "avx2", plan = { group_tokens = 48, window_block = 12 },
}
