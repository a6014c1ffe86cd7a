-- A golden made by tests/torch/attention.py: causal, ignored keys, two more keys, and the weights of all of them.
return {
  name = "mha_mix",
  batch = 2,
  seq = 66,
  d_model = 28,
  heads = 2,
  bias_kv = true,
  zero_attn = true,
  mask = { "causal", "key_padding" },
  attention_output = "heads",
  layers = 1,
  d_ff = 0,
  norm = "none",
  residual = false,
  input = qkv(),
  names = "torch",
}
