-- siglip_vision.lua: describes the image tower of SigLIP (Zhai et al. 2023), from a folder of it or of both towers. A
-- learned query that attends to the patches makes the embedding.
local heads = require("checkpoints.heads")

local function named(name, part)
  return { "vision_model.head." .. name, "head." .. name, part = part, parts = part and 3 }
end

-- The stage of the head, as an output of this name.
local function pooled(name)
  local tensors = { ["probe.weight"] = named("probe"), ["cross.out"] = named("attention.out_proj"),
    norm = named("layernorm"), ["ff.up"] = named("mlp.fc1"), ["ff.down"] = named("mlp.fc2") }
  for number, part in ipairs { "q", "k", "v" } do
    tensors["cross." .. part .. ".weight"] = named("attention.in_proj_weight", number)
    tensors["cross." .. part .. ".bias"] = named("attention.in_proj_bias", number)
  end
  return { "attend", name = name, tensors = tensors }
end

return {
  known = "SigLIP: the image tower, or one of both",
  model_types = { siglip_vision_model = "SiglipVision", siglip = "" },
  called = { siglip = "SigLIP", siglip_vision_model = "SigLIP's image tower" },
  inside = { siglip = "vision_config" },
  similarity = "sigmoid",
  other = function(given, tower) return given.model_type == "siglip" and tower == "text" and "siglip:text" or nil end,
  prefixes = { "vision_model.", "" },
  tensors = heads.clip_layers {
    { "input.{positions,patches}", "embeddings.{position,patch}_embedding" },
    { "final_norm", "post_layernorm" },
  },
  config = heads.image_config { eps = 1e-6, activation = "gelu_pytorch_tanh" },
  image = { class_token = false, positions = "embeddings.position_embedding.weight", position_tokens = 0 },
  heads = {
    SiglipModel = { pooled("image_embeds"), { "similarity", bias = true, name = "similarity", tensors = {
      weight = { { "logit_scale" }, { "logit_bias" }, join = "columns" } } } },
    Model = { { "hidden", name = "last_hidden_state" }, pooled("pooler_output") },
  },
}
