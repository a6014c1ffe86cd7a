-- A golden made by tests/torch/variants.py: Bahdanau's additive scores, unscaled, more keys than queries.
return {
  name = "additive_scoring",
  batch = 1,
  seq = 17,
  key_seq = 70,
  d_model = 36,
  heads = 3,
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  scoring = "additive",
  scale = false,
  attention_output = "heads",
}
