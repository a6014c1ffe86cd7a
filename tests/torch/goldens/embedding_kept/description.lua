-- A golden made by tests/torch/models.py: the pools of sentence-transformers, of rows that a mask keeps.
return {
  name = "embedding_kept",
  batch = 4,
  seq = 13,
  input = tokens { vocab = 50 },
  d_model = 30,
  heads = 3,
  layers = 1,
  d_ff = 28,
  mask = "attention_mask",
  output = {
    pool {
      over = { "mean", "max", "root", "weighted", "last", "first" },
      name = "embedding",
    },
  },
}
