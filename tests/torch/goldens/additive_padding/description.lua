-- A golden made by tests/torch/variants.py: additive scores, causal, sequences of different lengths.
return {
  name = "additive_padding",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 20,
  scoring = "additive",
  scale = false,
  mask = { "causal", "padding" },
}
