-- classifier.lua: the model of export_module.py, an nn.Module, as a description.
return {
  name = "classifier",
  input = tokens { vocab = 100 },
  positions = "none",
  seq = 16, d_model = 16, heads = 2, layers = 2, d_ff = 32, activation = "gelu",
  output = { pool "mean", linear { to = 5, name = "logits" } },
  names = { "torch", ["output.2.linear"] = "head" }, -- self.head = nn.Linear(16, 5)
}
