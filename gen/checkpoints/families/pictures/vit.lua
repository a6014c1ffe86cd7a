-- vit.lua: describes the vision transformer (Dosovitskiy et al. 2020), with the names of transformers 4 and 5.
local heads = require("checkpoints.heads")

return {
  known = "ViT",
  model_types = { vit = "ViT" },
  tensors = heads.vit_tensors("embeddings.cls_token"),
  config = heads.vit_config(),
  image = { positions = "embeddings.position_embeddings", other_positions = "pos_embed" }, -- timm's name
  heads = {
    Model = heads.model("pooler.dense"),
    ForImageClassification = {
      { "pool", over = "first" },
      { "linear", to = "labels", name = "logits", tensor = "classifier" },
    },
  },
}
