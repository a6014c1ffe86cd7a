-- bloom.lua: describes BLOOM (BigScience 2022): scores that fall with the distance (ALiBi), a norm of the embeddings,
-- and one tensor with query, key and value head by head.
local heads = require("checkpoints.heads")

local function part(number)
  return { "h.*.self_attention.query_key_value", part = number, parts = 3, groups = "heads" }
end

return {
  known = "BLOOM, BLOOMZ",
  model_types = { bloom = "Bloom" },
  called = { bloom = "BLOOM" },
  prefixes = { "transformer.", "" },
  tensors = {
    { "input.tokens", "word_embeddings" },
    { "input.norm", "word_embeddings_layernorm" },
    { "l*.attn.q", part(1) },
    { "l*.attn.k", part(2) },
    { "l*.attn.v", part(3) },
    { "l*.attn.out", "h.*.self_attention.dense" },
    { "l*.norm1", "h.*.input_layernorm" },
    { "l*.norm2", "h.*.post_attention_layernorm" },
    { "l*.ff.up", "h.*.mlp.dense_h_to_4h" },
    { "l*.ff.down", "h.*.mlp.dense_4h_to_h" },
    { "final_norm", "ln_f" },
  },
  config = heads.config({ vocab = 250880, tied = true }, {
    { "n_embed", "hidden_size", to = "d_model", default = 64, kind = "count" },
    { "n_layer", "num_hidden_layers", to = "layers", default = 2, kind = "count" },
    { "n_head", "num_attention_heads", to = "heads", default = 8, kind = "count" },
    { "seq_length", to = "longest", default = 2048, kind = "count" },
    { "layer_norm_epsilon", to = "eps", default = 1e-5, kind = "number" },
  }),
  fixed = { norm = "pre", final_norm = true, input_norm = true, positions = "alibi" },
  causal = true,
  derive = function(facts) facts.activation = "gelu_tanh" end,
  heads = heads.gpt,
}
