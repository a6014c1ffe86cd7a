-- falcon.lua: describes Falcon (Almazrouei et al. 2023): one tensor in which each group of queries comes before the key
-- and value that it shares; parallel parts; rotary positions, or scores that fall with the distance (ALiBi).
local heads = require("checkpoints.heads")

return {
  known = "Falcon (7B, 40B, 11B, RW)",
  model_types = { falcon = "Falcon" },
  tensors = {
    { "input.tokens", "word_embeddings" },
    { "l*.attn.{q,k,v}", { "h.*.self_attention.query_key_value",
      parts = { "heads", "kv_heads", "kv_heads" }, groups = "kv_heads" } },
    { "l*.attn.out", "h.*.self_attention.dense" },
    { "l*.norm1", { "h.*.input_layernorm", "h.*.ln_attn" } },
    { "l*.norm2", { "h.*.post_attention_layernorm", "h.*.ln_mlp" } },
    { "l*.ff.{up,down}", "h.*.mlp.dense_{h_to_4h,4h_to_h}" },
    { "final_norm", "ln_f" },
  },
  config = heads.config({ vocab = 65024, d_model = 4544, layers = 32, heads = 71, d_ff = false, activation = "gelu",
    longest = 2048, original = false, eps = 1e-5, rope_theta = false, rope_scaling = false, rope_parameters = false,
    tied = true }, {
    { "num_kv_heads", to = "kv_heads", default = false, kind = "count" },
    { "num_ln_in_parallel_attn", to = "norms", default = false, kind = "count" },
    { "alibi", to = "has_alibi", default = false, kind = "flag" },
    { "new_decoder_architecture", to = "is_new", default = false, kind = "flag" },
    { "multi_query", to = "is_multi_query", default = true, kind = "flag" },
    { "parallel_attn", to = "is_parallel", default = true, kind = "flag" },
    { "bias", to = "has_bias", default = false, kind = "flag" },
  }, { d_model = "n_embed hidden_size", d_ff = "ffn_hidden_size", activation = "activation",
    eps = "layer_norm_epsilon" }),
  fixed = { norm = "pre", final_norm = true, positions = "rope" },
  rotary = true,
  derive = function(facts)
    local has = facts.has_bias
    facts.bias = { qkv = has, out = has, ff = has }
    if facts.is_multi_query and not facts.is_new then facts.kv_heads = 1 end
    facts.parallel = facts.is_new and facts.norms ~= 1 and "two_norms" or (facts.is_new or facts.is_parallel)
      and "one_norm" or nil
    if facts.has_alibi then -- the scores' scale is also that of the distances
      facts.positions, facts.alibi_factor = "alibi", (facts.d_model // facts.heads) ^ -0.5
    end
  end,
}
