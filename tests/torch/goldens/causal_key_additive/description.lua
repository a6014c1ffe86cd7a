-- A golden made by tests/torch/variants.py: causal, ignored keys and a float mask.
return {
  name = "causal_key_additive",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 20,
  mask = { "causal", "key_padding", "additive" },
}
