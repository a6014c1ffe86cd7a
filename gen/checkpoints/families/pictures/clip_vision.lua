-- clip_vision.lua: describes the image tower of CLIP (Radford et al. 2021), from a folder of it or of both towers.
-- Each tower is a model of its own: a call has all pictures of its caller, whatever the number of texts.
local heads = require("checkpoints.heads")

local pooled = { "pool", over = "first" }

local function post_norm(name) return { "norm", tensor = "post_layernorm", within = true, name = name } end

local function projected(...)
  return { pooled, post_norm(), { "linear", to = "projection", bias = false, tensor = "visual_projection",
    name = "image_embeds" }, ... }
end

return {
  known = "CLIP: the image tower, or one of both",
  model_types = { clip_vision_model = "CLIPVision", clip = "" },
  called = { clip = "CLIP", clip_vision_model = "CLIP's image tower" },
  inside = { clip = "vision_config" },
  similarity = "softmax",
  other = function(given, tower) return given.model_type == "clip" and tower == "text" and "clip:text" or nil end,
  prefixes = { "vision_model.", "" },
  tensors = heads.clip_layers {
    { "input.{class,positions,patches}", "embeddings.{class,position,patch}_embedding" },
    { "input.norm", "pre_layrnorm" },
  },
  config = heads.image_config({ eps = 1e-5, patch = 32, activation = heads.of_clip }, {
    { "projection_dim", to = "projection", default = 512, kind = "count" },
  }),
  fixed = { norm = "pre" },
  image = { norm = true, patch_bias = false, positions = "embeddings.position_embedding.weight" },
  derive = function(facts, given)
    if facts.model_type == "clip" then facts.projection = given.projection_dim or 512 end
  end,
  heads = {
    CLIPModel = projected { "similarity", name = "similarity", tensors = { weight = { "logit_scale" } } },
    ModelWithProjection = projected(),
    Model = { { "hidden", name = "last_hidden_state" }, pooled, post_norm("pooler_output") },
  },
}
