-- gpt_neox.lua: describes GPT-NeoX (Black et al. 2022) and Pythia: parallel parts with two norms, rotary positions for
-- a part of each head, and one tensor with query, key and value head by head.
local heads = require("checkpoints.heads")
local words = require("common.words")

return {
  known = "GPT-NeoX, Pythia",
  model_types = { gpt_neox = "GPTNeoX" },
  called = { gpt_neox = "GPT-NeoX (Pythia)" },
  prefixes = { "gpt_neox.", "" },
  tensors = {
    { "input.tokens", "embed_in" },
    { "l*.attn.{q,k,v}", { "layers.*.attention.query_key_value", parts = 3, groups = "heads" } },
    { "l*.attn.out", "layers.*.attention.dense" },
    { "l*.{norm1,norm2}", "layers.*.{input,post_attention}_layernorm" },
    { "l*.ff.{up,down}", "layers.*.mlp.dense_{h_to_4h,4h_to_h}" },
    { "final_norm", "final_layer_norm" },
  },
  config = heads.config({ vocab = 50432, d_model = 6144, d_ff = 24576, layers = 44, heads = 64, activation = "gelu",
    longest = 2048, original = false, eps = 1e-5, rope_scaling = false, rope_parameters = false, tied = false,
    attention_bias = true }, {
    { "rotary_emb_base", to = "rope_theta", default = false, kind = "number" },
    { "rotary_pct", to = "partial", default = 0.25, kind = "number" },
    { "use_parallel_residual", to = "is_parallel", default = true, kind = "flag" },
  }),
  fixed = { norm = "pre", final_norm = true, positions = "rope" },
  rotary = true,
  derive = function(facts)
    local has = facts.attention_bias
    facts.bias = { qkv = has, out = has, ff = true }
    facts.parallel = facts.is_parallel and "two_norms" or nil
  end,
  heads = words.merged(heads.gpt, { ForCausalLM = heads.causal_lm_named("embed_out.weight", "lm_head.weight") }),
}
