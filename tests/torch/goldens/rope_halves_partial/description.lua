-- A golden made by tests/torch/variants.py: rotary positions on 6 of 10 dimensions, causal (GPT-NeoX).
return {
  name = "rope_halves_partial",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 20,
  positions = "rope",
  rope_dim = 6,
  mask = "causal",
}
