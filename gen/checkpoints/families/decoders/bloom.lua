-- bloom.lua: describes BLOOM (BigScience 2022): scores that fall with the distance (ALiBi), a norm of the embeddings,
-- and one tensor with query, key and value head by head.
local heads = require("checkpoints.heads")
local words = require("common.words")

return {
  known = "BLOOM, BLOOMZ",
  model_types = { bloom = "Bloom" },
  called = { bloom = "BLOOM" },
  tensors = {
    { "input.{tokens,norm}", "word_{embeddings,embeddings_layernorm}" },
    { "l*.attn.{q,k,v}", { "h.*.self_attention.query_key_value", parts = 3, groups = "heads" } },
    { "l*.attn.out", "h.*.self_attention.dense" },
    { "l*.{norm1,norm2}", "h.*.{input,post_attention}_layernorm" },
    { "l*.ff.{up,down}", "h.*.mlp.dense_{h_to_4h,4h_to_h}" },
    { "final_norm", "ln_f" },
  },
  config = heads.config({ vocab = 250880, d_model = 64, layers = 2, heads = 8, longest = 2048, eps = 1e-5,
    tied = true }, nil, words.merged(heads.gpt_names, { d_model = "n_embed hidden_size", longest = "seq_length" })),
  fixed = { norm = "pre", final_norm = true, input_norm = true, positions = "alibi" },
  derive = function(facts) facts.activation = "gelu_tanh" end,
}
