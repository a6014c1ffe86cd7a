-- A golden made by tests/torch/variants.py: distances beyond T5's largest, 200 positions.
return {
  name = "t5_far",
  batch = 1,
  seq = 200,
  d_model = 20,
  heads = 2,
  layers = 1,
  d_ff = 12,
  activation = "relu",
  norm = "pre",
  norm_kind = "rms",
  eps = 1e-06,
  final_norm = true,
  bias = false,
  scale = false,
  positions = "t5",
}
