-- torch.nn.MultiheadAttention(512, 8, kdim=256, vdim=320), with its own inputs: query, key, value and a key padding
-- mask. Outputs are the result and the weights averaged over heads. A checkpoint is the module's state_dict().
return {
  name = "mha",
  input = qkv(), seq = 64, key_seq = 100, kdim = 256, vdim = 320,
  d_model = 512, heads = 8, layers = 1,
  residual = false, norm = "none", d_ff = 0,
  mask = "key_padding", attention_output = "mean",
  names = "torch",
}
