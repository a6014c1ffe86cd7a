-- A golden made by tests/torch/variants.py: ALiBi to both sides, three heads: no power of two.
return {
  name = "alibi_heads3",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 20,
  positions = "alibi",
}
