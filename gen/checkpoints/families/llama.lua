-- llama.lua: describes Llama (Touvron et al. 2023) and its successors.
local heads = require("checkpoints.heads")

return {
  known = "Llama 1 to 3, TinyLlama, SmolLM 1 and 2",
  model_types = { llama = "Llama" },
  called = { llama = "Llama" },
  prefixes = heads.llama_prefixes,
  tensors = heads.llama_tensors(),
  config = heads.llama_config({ vocab = 32000, d_ff = 11008, positions = 2048 }, {
    { "attention_bias", to = "attention_bias", default = false, kind = "flag" },
    { "mlp_bias", to = "mlp_bias", default = false, kind = "flag" },
  }),
  fixed = heads.llama_fixed,
  rotary = true,
  causal = true,
  derive = function(facts)
    local has = facts.attention_bias
    facts.bias = { qkv = has, out = has, ff = facts.mlp_bias }
  end,
  heads = heads.llama,
}
