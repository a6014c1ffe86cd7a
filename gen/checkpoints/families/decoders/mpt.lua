-- mpt.lua: describes MPT (MosaicML 2023): scores that fall with the distance (ALiBi), no biases, and in some models
-- queries, keys and values within limits.
local heads = require("checkpoints.heads")

return {
  known = "MPT 7B and 30B",
  model_types = { mpt = "Mpt" },
  called = { mpt = "MPT" },
  tensors = {
    { "input.tokens", "wte" },
    { "l*.attn.{q,k,v}", { "blocks.*.attn.Wqkv", parts = 3 } },
    { "l*.attn.out", "blocks.*.attn.out_proj" },
    { "l*.{norm1,norm2}", "blocks.*.norm_{1,2}" },
    { "l*.ff.{up,down}", "blocks.*.ffn.{up,down}_proj" },
    { "final_norm", "norm_f" },
  },
  config = heads.config({ vocab = 50368, d_model = 2048, layers = 24, heads = 16, longest = 2048, eps = 1e-5,
    tied = true }, nil, { d_model = "d_model hidden_size", layers = "n_layers num_hidden_layers",
    heads = "n_heads num_attention_heads", longest = "max_seq_len", eps = "layer_norm_epsilon" }),
  inner = { attn_config = {
    { "alibi_bias_max", to = "alibi_max", default = 8, kind = "number" },
    { "clip_qkv", to = "qkv_limit", default = false, kind = "number" },
    { "softmax_scale", to = "score_scale", default = false, kind = "number" },
  } },
  fixed = { norm = "pre", final_norm = true, positions = "alibi",
    bias = { qkv = false, out = false, ff = false, norm = false } },
  derive = function(facts) facts.score_scale, facts.activation = facts.score_scale or nil, "gelu" end,
  said = function(facts)
    return facts.alibi_max ~= 8 and "attn_config: alibi_bias_max: its value counts, as in the code that the model was "
      .. "trained with; transformers takes 8" or nil
  end,
}
