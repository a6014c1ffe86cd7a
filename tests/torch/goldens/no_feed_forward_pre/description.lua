-- A golden made by tests/torch/models.py: d_ff = 0 with the norm before attention and one after the stack.
return {
  name = "no_feed_forward_pre",
  batch = 2,
  seq = 70,
  d_model = 28,
  heads = 2,
  layers = 2,
  d_ff = 0,
  norm = "pre",
  final_norm = true,
  mask = "causal",
}
