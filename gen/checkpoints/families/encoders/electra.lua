-- electra.lua: describes ELECTRA (Clark et al. 2020): BERT with narrow tables and no pooler.
local heads = require("checkpoints.heads")

return {
  known = "ELECTRA, generator and discriminator",
  model_types = { electra = "Electra" },
  called = { electra = "ELECTRA" },
  tensors = heads.bert_tensors("embeddings_project"),
  config = heads.bert_config { vocab = 30522, types = 2, d_model = 256, layers = 12, heads = 4, d_ff = 1024,
    embedding = 128 },
  heads = heads.of_encoder {
    ForSequenceClassification = heads.two_layers("gelu"),
    ForMaskedLM = heads.masked_lm { transform = "generator_predictions.dense", to = "embedding", activation = "gelu",
      norm = "generator_predictions.LayerNorm", vocabulary = "generator_lm_head", bias = "generator_lm_head.bias" },
    ForPreTraining = {
      { "linear", to = "d_model", activation = "activation", tensor = "discriminator_predictions.dense" },
      { "linear", to = 1, name = "logits", squeeze = true, tensor = "discriminator_predictions.dense_prediction" },
    },
  },
}
