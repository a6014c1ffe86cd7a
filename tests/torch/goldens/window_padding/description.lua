-- A golden made by tests/torch/variants.py: a window and padding: queries far beyond the end see nothing, get zeros.
return {
  name = "window_padding",
  batch = 3,
  seq = 40,
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 20,
  mask = { "padding", window = { 2, 3 } },
}
