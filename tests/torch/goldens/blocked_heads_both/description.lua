-- A golden made by tests/torch/variants.py: pairs blocked for all, more for single heads, a bias for single heads.
return {
  name = "blocked_heads_both",
  batch = 2,
  seq = 17,
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 20,
  mask = { "blocked", "blocked_heads", "additive_heads" },
}
