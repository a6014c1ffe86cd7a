-- llama.lua: describes Llama (Touvron et al. 2023) and its successors.
local heads = require("checkpoints.heads")

return heads.llama_family {
  known = "Llama 1 to 3, TinyLlama, SmolLM 1 and 2",
  model_types = { llama = "Llama" },
  config = heads.llama_config { vocab = 32000, d_ff = 11008, longest = 2048, attention_bias = false, mlp_bias = false },
  derive = heads.set_biases,
}
