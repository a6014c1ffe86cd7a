-- A golden made by tests/torch/variants.py: rotary positions as in Hugging Face's Llama.
return {
  name = "rope_halves70",
  batch = 2,
  seq = 70,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 20,
  positions = "rope",
}
