-- bert.lua: describes BERT (Devlin et al. 2018).
local heads = require("checkpoints.heads")

return {
  known = "BERT, all-MiniLM, paraphrase-multilingual-MiniLM, BGE v1 and v1.5, E5 (English), GTE (thenlper), "
    .. "LaBSE, cross-encoders of MS MARCO",
  model_types = { bert = "Bert" },
  called = { bert = "BERT" },
  --- JinaBERT's published folders have the same model_type.
  other = function(config) return config.position_embedding_type == "alibi" and "jina_bert" or nil end,
  config = heads.bert_config { vocab = 30522, types = 2, d_model = 768, layers = 12, heads = 12, d_ff = 3072 },
}
