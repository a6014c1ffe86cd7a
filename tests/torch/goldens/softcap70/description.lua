-- A golden made by tests/torch/variants.py: scores bent to a cap before a causal mask and a window, as in Gemma 2.
return {
  name = "softcap70",
  batch = 1,
  seq = 70,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 20,
  softcap = 1.5,
  mask = { "causal", window = { 20, 9 } },
}
