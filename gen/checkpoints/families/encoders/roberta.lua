-- roberta.lua: describes RoBERTa (Liu et al. 2019), XLM-RoBERTa, CamemBERT and data2vec-text.
-- They are BERT with positions that begin after the padding token's id, and one token type, added to the positions.
local heads = require("checkpoints.heads")

return {
  known = "RoBERTa, XLM-RoBERTa, multilingual E5 (base, large), BGE-M3, BGE rerankers, CamemBERT, data2vec-text",
  model_types = { roberta = "Roberta", ["xlm-roberta"] = "XLMRoberta", camembert = "Camembert",
    ["data2vec-text"] = "Data2VecText" },
  called = { roberta = "RoBERTa", ["xlm-roberta"] = "XLM-RoBERTa", camembert = "CamemBERT",
    ["data2vec-text"] = "data2vec-text" },
  --- jina-embeddings-v3's published folders have the same model_type.
  other = function(config)
    return config.model_type == "xlm-roberta" and config.position_embedding_type == "rotary" and "xlm-roberta:rotary"
      or nil
  end,
  class = "Roberta",
  prefixes = { "roberta.", "data2vec_text.", "" },
  config = heads.bert_config { vocab = 50265, types = 2, d_model = 768, layers = 12, heads = 12, d_ff = 3072, pad = 1 },
  defaults = { ["xlm-roberta"] = { vocab = 30522 }, camembert = { vocab = 30522 },
    ["data2vec-text"] = { vocab = 30522 } },
  positions_after_pad = true,
  heads = heads.roberta,
}
