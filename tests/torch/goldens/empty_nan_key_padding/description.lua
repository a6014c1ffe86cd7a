-- A golden made by tests/torch/variants.py: a sequence whose every key is ignored: NaN; the other sequence is whole.
return {
  name = "empty_nan_key_padding",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 20,
  mask = "key_padding",
  fully_masked = "nan",
}
