-- A golden made by tests/torch/models.py: every row of the last states and of a projection made length 1.
return {
  name = "normalise_rows",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 28,
  output = {
    normalise { name = "unit" },
    linear { to = 5 },
    normalise { name = "small" },
  },
}
