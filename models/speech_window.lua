-- Truncated self-attention for long speech: each frame attends to itself, the 64 before it and the 64 after it. Work
-- and memory grow with the window, and not with the square of the length. The output is one vector a frame; with
-- output = { pool "mean", linear { to = 600 } } it is one for the whole utterance.
return {
  name = "speech_window",
  input = linear { from = 40 },
  seq = 4096, d_model = 256, heads = 4, layers = 2, activation = "relu",
  positions = "sinusoidal", mask = "window", window = { 64, 64 },
}
