-- A golden made by tests/torch/models.py: ignored keys among past and new ones.
return {
  name = "bert_past_padding",
  batch = 2,
  seq = 7,
  past = 9,
  input = tokens { vocab = 50, norm = true },
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 28,
  activation = "gelu",
  norm = "post",
  eps = 1e-12,
  mask = { "causal", "key_padding" },
}
