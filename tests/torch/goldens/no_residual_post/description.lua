-- A golden made by tests/torch/models.py: nothing is added to what comes in; norms after each part.
return {
  name = "no_residual_post",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 28,
  residual = false,
}
