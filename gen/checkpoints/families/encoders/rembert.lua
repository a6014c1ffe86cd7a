-- rembert.lua: describes RemBERT (Chung et al. 2020): BERT with narrow tables, and wide ones where it scores tokens.
local faults = require("common.faults")
local heads = require("checkpoints.heads")

return {
  known = "RemBERT",
  model_types = { rembert = "RemBert" },
  called = { rembert = "RemBERT" },
  tensors = heads.bert_tensors("encoder.embedding_hidden_mapping_in"),
  config = heads.bert_config({ vocab = 250300, types = 2, d_model = 1152, layers = 32, heads = 18, d_ff = 4608,
    tied = false }, {
    { "input_embedding_size", to = "embedding", default = 256, kind = "count" },
    { "output_embedding_size", to = "scored", default = 1664, kind = "count" },
  }),
  derive = function(facts)
    if facts.embedding == facts.d_model then
      faults.raise("usage", "config.json: input_embedding_size: a table as wide as hidden_size is not supported")
    end
  end,
  heads = heads.of_encoder {
    Model = heads.model("pooler.dense"),
    ForSequenceClassification = heads.pooled("pooler.dense"),
    ForMaskedLM = heads.masked_lm { transform = "cls.predictions.dense", to = "scored",
      norm = "cls.predictions.LayerNorm", vocabulary = "cls.predictions.decoder",
      bias = "cls.predictions.decoder.bias" },
  },
}
