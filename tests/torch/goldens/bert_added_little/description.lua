-- A golden made by tests/torch/models.py: ignored keys that are only made less likely.
return {
  name = "bert_added_little",
  batch = 2,
  seq = 70,
  input = tokens { vocab = 50, norm = true },
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 28,
  activation = "gelu",
  norm = "post",
  eps = 1e-12,
  mask = "key_padding",
  mask_value = -2.5,
}
