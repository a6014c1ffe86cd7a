-- The Transformer of "Attention is all you need", encoder and decoder in one model. The encoder reads the source and
-- its lengths; the causal decoder reads the target and the encoder's result.
return {
  name = "transformer_seq2seq",
  input = tokens { vocab = 8000 }, positions = "sinusoidal",
  seq = 64, d_model = 512, heads = 8, layers = 6, d_ff = 2048, activation = "relu",
  mask = "causal",
  memory = encoder { input = tokens { vocab = 8000 }, positions = "sinusoidal", seq = 80, mask = "padding" },
  output = { vocabulary { tied = false } },
}
