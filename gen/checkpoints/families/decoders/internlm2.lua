-- internlm2.lua: describes InternLM 2 (Cai et al. 2024): Llama with one tensor for queries, keys and values, in which
-- each group of queries comes before the key and value that it shares. Folders have Python code of their own.
local heads = require("checkpoints.heads")

local function part(number)
  return { "layers.*.attention.wqkv", part = number, parts = { "heads", "kv_heads", "kv_heads" }, groups = "kv_heads" }
end

return heads.llama_family {
  known = "InternLM 2 and 2.5",
  model_types = { internlm2 = "InternLM2" },
  called = { internlm2 = "InternLM 2" },
  tensors = {
    { "input.tokens", "tok_embeddings" },
    { "l*.attn.q", part(1) },
    { "l*.attn.k", part(2) },
    { "l*.attn.v", part(3) },
    { "l*.attn.out", "layers.*.attention.wo" },
    { "l*.norm1", "layers.*.attention_norm" },
    { "l*.ff.gate", "layers.*.feed_forward.w1" },
    { "l*.ff.up", "layers.*.feed_forward.w3" },
    { "l*.ff.down", "layers.*.feed_forward.w2" },
    { "l*.norm2", "layers.*.ffn_norm" },
    { "final_norm", "norm" },
  },
  config = heads.llama_config({ vocab = 103168, d_ff = 11008, longest = 2048 }, {
    { "bias", to = "attention_bias", default = true, kind = "flag" },
  }),
  derive = heads.set_biases,
  heads = {
    Model = heads.model(),
    ForCausalLM = heads.causal_lm_named("output.weight"),
    ForSequenceClassification = heads.last_token,
  },
}
