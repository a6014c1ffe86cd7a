-- A golden made by tests/torch/models.py: a caption's decoder: cross-attention to image tokens, tied vocabulary.
return {
  name = "blip_text",
  batch = 2,
  seq = 13,
  input = tokens { vocab = 50, norm = true },
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 28,
  activation = "gelu",
  norm = "post",
  eps = 1e-12,
  mask = "causal",
  memory = { seq = 70, width = 28 },
  output = {
    linear { to = 30, activation = "gelu" },
    norm(),
    vocabulary { tied = true, name = "logits" },
  },
}
