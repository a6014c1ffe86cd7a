-- Truncated self-attention for long speech: each frame sees 64 before it, itself and 64 after it, so that work
-- and memory grow with the window and not with the square of the length. Frames come out; with output = { pool
-- "mean", linear { to = 600 } } the utterance as a whole.
return {
  name = "speech_window",
  input = linear { from = 40 },
  seq = 4096, d_model = 256, heads = 4, layers = 2, activation = "relu",
  positions = "sinusoidal", mask = "window", window = { 64, 64 },
}
