-- A golden made by tests/torch/variants.py: the same on all dimensions, after a past; new keys come out rotated.
return {
  name = "rope_pairs_past",
  batch = 2,
  seq = 8,
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 20,
  past = 9,
  positions = "rope",
  rope_style = "pairs",
  mask = "causal",
}
