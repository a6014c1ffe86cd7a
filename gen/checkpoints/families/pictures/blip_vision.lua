-- blip_vision.lua: describes the image tower of BLIP (Li et al. 2022), by itself or as the encoder of blip.lua.
local heads = require("checkpoints.heads")

return {
  known = "BLIP: the image tower",
  model_types = { blip_vision_model = "BlipVision" },
  called = { blip_vision_model = "BLIP's image tower" },
  prefixes = { "vision_model.", "" },
  tensors = {
    { "input.class", "embeddings.class_embedding" },
    { "input.positions.weight", "embeddings.position_embedding" },
    { "input.patches", "embeddings.patch_embedding" },
    { "l*.attn.{q,k,v}", { "encoder.layers.*.self_attn.qkv", parts = 3 } },
    { "l*.attn.out", "encoder.layers.*.self_attn.projection" },
    { "l*.{norm1,norm2}", "encoder.layers.*.layer_{norm1,norm2}" },
    { "l*.ff.{up,down}", "encoder.layers.*.mlp.{fc1,fc2}" },
    { "final_norm", "post_layernorm" },
  },
  config = heads.image_config {},
  defaults = { blip_vision_model = { eps = 1e-5, image = 384 } },
  image = { positions = "embeddings.position_embedding" },
  heads = { -- the pooler's output has the last norm twice
    Model = { heads.model()[1], { "pool", over = "first" },
      { "norm", tensor = "post_layernorm", within = true, name = "pooler_output" } },
  },
}
