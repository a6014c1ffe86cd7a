-- mpnet.lua: describes MPNet (Song et al. 2020): BERT with T5's distances and learned positions, without token types.
local heads = require("checkpoints.heads")

return {
  known = "MPNet, all-mpnet-base-v2, multi-qa-mpnet",
  model_types = { mpnet = "MPNet" },
  tensors = {
    { "input.{tokens,positions,norm}", "embeddings.{word_embeddings,position_embeddings,LayerNorm}" },
    { "positions.bias.weight", "encoder.relative_attention_bias.weight" },
    { "l*.attn.{q,k,v,out}", "encoder.layer.*.attention.attn.{q,k,v,o}" },
    { "l*.{norm1,norm2}", "encoder.layer.*.{attention,output}.LayerNorm" },
    { "l*.ff.{up,down}", "encoder.layer.*.{intermediate,output}.dense" },
  },
  config = heads.bert_config { vocab = 30527, d_model = 768, layers = 12, heads = 12, d_ff = 3072 },
  fixed = { norm = "post", positions = { "learned", "t5" }, first_position = 2, t5_buckets = 32, t5_distance = 128 },
  heads = heads.roberta,
}
