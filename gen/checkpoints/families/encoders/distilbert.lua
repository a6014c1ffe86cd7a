-- distilbert.lua: describes DistilBERT (Sanh et al. 2019): BERT with other names, without token types and pooler.
local heads = require("checkpoints.heads")

return {
  known = "DistilBERT",
  model_types = { distilbert = "DistilBert" },
  called = { distilbert = "DistilBERT" },
  tensors = {
    { "input.{tokens,positions,norm}", "embeddings.{word_embeddings,position_embeddings,LayerNorm}" },
    { "l*.attn.{q,k,v,out}", "transformer.layer.*.attention.{q,k,v,out}_lin" },
    { "l*.{norm1,norm2}", "transformer.layer.*.{sa,output}_layer_norm" },
    { "l*.ff.{up,down}", "transformer.layer.*.ffn.{lin1,lin2}" },
  },
  config = heads.config({ vocab = 30522, d_model = 768, layers = 6, heads = 12, d_ff = 3072, activation = "gelu",
    max_position = 512, tied = true }, nil, { d_model = "dim hidden_size", layers = "n_layers num_hidden_layers",
    heads = "n_heads num_attention_heads", d_ff = "hidden_dim intermediate_size", activation = "activation" }),
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
