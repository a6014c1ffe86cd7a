-- distilbert.lua: describes DistilBERT (Sanh et al. 2019): BERT with other names, without token types and pooler.
local heads = require("checkpoints.heads")

return {
  known = "DistilBERT",
  model_types = { distilbert = "DistilBert" },
  called = { distilbert = "DistilBERT" },
  prefixes = { "distilbert.", "" },
  tensors = {
    { "input.{tokens,positions,norm}", "embeddings.{word_embeddings,position_embeddings,LayerNorm}" },
    { "l*.attn.{q,k,v,out}", "transformer.layer.*.attention.{q,k,v,out}_lin" },
    { "l*.{norm1,norm2}", "transformer.layer.*.{sa,output}_layer_norm" },
    { "l*.ff.{up,down}", "transformer.layer.*.ffn.{lin1,lin2}" },
  },
    config = heads.config({ vocab = 30522, max_position = 512, tied = true }, {
    { "dim", "hidden_size", to = "d_model", default = 768, kind = "count" },
    { "n_layers", "num_hidden_layers", to = "layers", default = 6, kind = "count" },
    { "n_heads", "num_attention_heads", to = "heads", default = 12, kind = "count" },
    { "hidden_dim", "intermediate_size", to = "d_ff", default = 3072, kind = "count" },
    { "activation", to = "activation", default = "gelu", kind = "activation" },
  }),
  fixed = { norm = "post", eps = 1e-12 },
  heads = heads.of_encoder {
    ForSequenceClassification = {
      { "pool", over = "first" },
      { "linear", to = "d_model", activation = "relu", tensor = "pre_classifier" },
      { "linear", to = "labels", name = "logits", tensor = "classifier" },
    },
    ForMaskedLM = heads.masked_lm { transform = "vocab_transform", norm = "vocab_layer_norm",
      vocabulary = "vocab_projector", bias = "vocab_projector.bias" },
  },
}
