-- A golden made by tests/torch/variants.py: ALiBi with six heads and padding.
return {
  name = "alibi_heads6",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 6,
  layers = 2,
  d_ff = 20,
  positions = "alibi",
  mask = "padding",
}
