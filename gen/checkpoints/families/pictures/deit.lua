-- deit.lua: describes DeiT (Touvron et al. 2020): ViT with a second token, and the mean of two classifiers.
local heads = require("checkpoints.heads")

return {
  known = "DeiT, with and without teacher",
  model_types = { deit = "DeiT" },
  tensors = heads.vit_tensors { join = "rows", { "embeddings.cls_token" }, { "embeddings.distillation_token" } },
  config = heads.vit_config(),
  image = { distillation_token = true, positions = "embeddings.position_embeddings", position_tokens = 2 },
  heads = {
    Model = heads.model("pooler.dense"),
    ForImageClassification = {
      { "pool", over = "first" },
      { "linear", to = "labels", name = "logits", tensor = "classifier" },
    },
    -- The mean of two linear layers on two rows is one linear layer on both rows side by side, with halved weights.
    ForImageClassificationWithTeacher = {
      { "pool", over = { "first", "second" } },
      { "linear", to = "labels", name = "logits", tensor = "cls_classifier", tensors = {
        weight = { join = "columns", factor = 0.5, { "cls_classifier.weight" }, { "distillation_classifier.weight" } },
        bias = { "cls_classifier.bias", factor = 0.5, plus = { "distillation_classifier.bias", factor = 0.5 } } } },
    },
  },
}
