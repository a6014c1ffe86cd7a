-- internlm2.lua: describes InternLM 2 (Cai et al. 2024): Llama with one tensor for queries, keys and values, in which
-- each group of queries comes before the key and value that it shares. Folders have Python code of their own.
local heads = require("checkpoints.heads")

return heads.llama_family {
  known = "InternLM 2 and 2.5",
  model_types = { internlm2 = "InternLM2" },
  called = { internlm2 = "InternLM 2" },
  tensors = {
    { "input.tokens", "tok_embeddings" },
    { "l*.attn.{q,k,v}", { "layers.*.attention.wqkv",
      parts = { "heads", "kv_heads", "kv_heads" }, groups = "kv_heads" } },
    { "l*.attn.out", "layers.*.attention.wo" },
    { "l*.{norm1,norm2}", "layers.*.{attention,ffn}_norm" },
    { "l*.ff.{gate,up,down}", "layers.*.feed_forward.{w1,w3,w2}" },
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
