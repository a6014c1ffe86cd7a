-- A golden made by tests/torch/variants.py: ALiBi after a past.
return {
  name = "alibi_past",
  batch = 2,
  seq = 5,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 20,
  past = 12,
  positions = "alibi",
  mask = "causal",
}
