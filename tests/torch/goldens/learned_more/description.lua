-- A golden made by tests/torch/variants.py: a learned table of more positions than there are.
return {
  name = "learned_more",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 20,
  input = tokens { vocab = 50 },
  positions = "learned",
  max_position = 40,
}
