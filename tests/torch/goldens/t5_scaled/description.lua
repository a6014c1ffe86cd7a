-- A golden made by tests/torch/variants.py: T5's table added to scores that are scaled.
return {
  name = "t5_scaled",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 20,
  positions = "t5",
  t5_buckets = 8,
  t5_distance = 12,
}
