-- A golden made by tests/torch/variants.py: ALiBi, causal, four heads nine wide.
return {
  name = "alibi_causal4",
  batch = 1,
  seq = 70,
  d_model = 36,
  heads = 4,
  layers = 1,
  d_ff = 20,
  positions = "alibi",
  mask = "causal",
}
