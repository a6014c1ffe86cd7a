-- A golden made by tests/torch/variants.py: rows without a key: NaN, in these rows only.
return {
  name = "empty_nan",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 20,
  mask = "blocked",
  fully_masked = "nan",
  attention_output = "heads",
}
