-- A golden made by tests/torch/models.py: keys and values of what came before; the new ones are outputs.
return {
  name = "bert_past",
  batch = 2,
  seq = 6,
  past = 11,
  input = tokens { vocab = 50, norm = true },
  d_model = 30,
  heads = 3,
  layers = 2,
  d_ff = 28,
  activation = "gelu",
  norm = "post",
  eps = 1e-12,
  max_position = 32,
  mask = "causal",
  attention_output = "mean",
}
