-- albert.lua: describes ALBERT (Lan et al. 2019): BERT with narrow tables and layers that share their weights.
local heads = require("checkpoints.heads")

local layer = "encoder.albert_layer_groups.*.albert_layers.0."

return {
  known = "ALBERT",
  model_types = { albert = "Albert" },
  called = { albert = "ALBERT" },
  tensors = heads.bert_tables {
    { "input.projection", "encoder.embedding_hidden_mapping_in" },
    { "l*.attn.{q,k,v,out}", layer .. "attention.{query,key,value,dense}" },
    { "l*.{norm1,norm2}", layer .. "{attention.LayerNorm,full_layer_layer_norm}" },
    { "l*.ff.{up,down}", layer .. "{ffn,ffn_output}" },
  },
  config = heads.bert_config({ vocab = 30000, types = 2, d_model = 4096, layers = 12, heads = 64, d_ff = 16384,
    activation = "gelu_new", embedding = 128 }, {
    { "num_hidden_groups", to = "groups", default = 1, kind = "count" },
  }),
  --- Sets the group of each layer: layer i is in group int(i / (layers / groups)).
  derive = function(facts)
    facts.layer_groups = {}
    for i = 0, facts.layers - 1 do facts.layer_groups[i + 1] = i * facts.groups // facts.layers end
  end,
  heads = heads.of_encoder {
    Model = heads.model("pooler"),
    ForSequenceClassification = heads.pooled("pooler"),
    ForMaskedLM = heads.masked_lm { transform = "predictions.dense", to = "embedding", norm = "predictions.LayerNorm",
      vocabulary = "predictions.decoder", bias = "predictions.bias" },
  },
}
