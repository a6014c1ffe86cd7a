-- A golden made by tests/torch/models.py: d_ff = 0: attention, sum and norm.
return {
  name = "no_feed_forward_post",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 3,
  d_ff = 0,
}
