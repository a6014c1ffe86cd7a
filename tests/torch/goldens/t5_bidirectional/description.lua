-- A golden made by tests/torch/variants.py: T5's buckets to both sides, unscaled, over more than a block.
return {
  name = "t5_bidirectional",
  batch = 1,
  seq = 70,
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 20,
  activation = "relu",
  norm = "pre",
  norm_kind = "rms",
  eps = 1e-06,
  final_norm = true,
  bias = false,
  scale = false,
  positions = "t5",
}
