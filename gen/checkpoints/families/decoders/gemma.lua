-- gemma.lua: describes Gemma (Gemma Team 2024): Llama with scaled embeddings and norms whose stored weight is one less.
local gemma = require("checkpoints.gemma")
local heads = require("checkpoints.heads")

return heads.llama_family {
  known = "Gemma 1",
  model_types = { gemma = "Gemma" },
  tensors = gemma.tensors {
    { "l*.norm1.weight", gemma.norm("layers.*.input_layernorm.weight") },
    { "l*.norm2.weight", gemma.norm("layers.*.post_attention_layernorm.weight") },
  },
  config = heads.llama_config { vocab = 256000, d_model = 3072, d_ff = 24576, layers = 28, heads = 16, kv_heads = 16,
    head_dim = 256, activation = "gelu_pytorch_tanh", longest = 8192, tied = true, attention_bias = false },
  pad = 0,
  derive = function(facts, config)
    gemma.derive(facts)
    -- Early folders say gelu and mean its approximation, as transformers knows.
    if config.hidden_act == "gelu" then facts.activation = "gelu_tanh" end
  end,
  heads = heads.decoder,
}
