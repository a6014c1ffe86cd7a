-- A golden made by tests/torch/variants.py: rows without a key in a whole stack: zeros in place of weights.
return {
  name = "empty_zero",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 20,
  mask = "blocked",
  fully_masked = "zero",
  attention_output = "mean",
}
