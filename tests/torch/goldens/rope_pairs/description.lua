-- A golden made by tests/torch/variants.py: rotary positions of neighbours, theta 500, 4 of 10 dimensions (GPT-J).
return {
  name = "rope_pairs",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 20,
  positions = "rope",
  rope_style = "pairs",
  rope_theta = 500,
  rope_dim = 4,
}
