-- A golden made by tests/torch/variants.py: the first nine keys seen by all, the others causal, longer than a block.
return {
  name = "prefix70",
  batch = 1,
  seq = 70,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 20,
  mask = "prefix",
  prefix = 9,
}
