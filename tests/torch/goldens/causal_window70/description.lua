-- A golden made by tests/torch/variants.py: causal, and no further back than 20.
return {
  name = "causal_window70",
  batch = 1,
  seq = 70,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 20,
  mask = { "causal", window = { 20, 3 } },
}
