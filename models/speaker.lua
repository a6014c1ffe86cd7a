-- The speaker classifier of the tutorials: 40 filter-bank bands a frame, segments of 128
-- frames, 600 speakers. models/speaker/ has its training and its weights.
return {
  name = "speaker", batch = 32, seq = 128,
  input = linear { from = 40 },
  d_model = 80, heads = 2, layers = 1, d_ff = 256, activation = "relu", norm = "post",
  output = {
    pool "mean", linear { to = 80 }, sigmoid(), linear { to = 600, name = "logits" },
    argmax { name = "speaker" },
  },
  names = "torch",
}
