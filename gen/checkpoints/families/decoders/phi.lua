-- phi.lua: describes Phi 1, 1.5 and 2 (Li et al. 2023): parallel parts with one norm, rotary positions for a part of
-- each head, and biases everywhere.
local heads = require("checkpoints.heads")

return heads.llama_family {
  known = "Phi 1, 1.5 and 2",
  model_types = { phi = "Phi" },
  called = { phi = "Phi 1 and 2" },
  tensors = {
    { "input.tokens", "embed_tokens" },
    { "l*.attn.{q_norm,k_norm,q,k,v,out}", "layers.*.self_attn.{q_layernorm,k_layernorm,q_proj,k_proj,v_proj,dense}" },
    { "l*.norm1", "layers.*.input_layernorm" },
    { "l*.ff.{up,down}", "layers.*.mlp.{fc1,fc2}" },
    { "final_norm", "final_layernorm" },
  },
  config = heads.llama_config({ vocab = 51200, d_model = 2048, d_ff = 8192, layers = 24, activation = "gelu_new",
    longest = 2048, eps = 1e-5, partial = 0.5 }, {
    { "qk_layernorm", to = "qk_layernorm", default = false, kind = "flag" },
  }),
  fixed = { norm = "pre", final_norm = true, parallel = "one_norm", positions = "rope" },
  derive = function(facts) facts.qk_norm = facts.qk_layernorm and "heads" or nil end,
  heads = {
    Model = heads.model(),
    ForCausalLM = heads.causal_lm_with_bias,
    ForSequenceClassification = heads.last_token,
    ForTokenClassification = heads.llama.ForTokenClassification,
  },
}
