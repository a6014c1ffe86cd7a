-- blip_vision.lua: describes the image tower of BLIP (Li et al. 2022), by itself or as the encoder of blip.lua.
local heads = require("checkpoints.heads")

local joined = "encoder.layers.*.self_attn.qkv"

return {
  known = "BLIP: the image tower",
  model_types = { blip_vision_model = "BlipVision" },
  called = { blip_vision_model = "BLIP's image tower" },
  prefixes = { "vision_model.", "" },
  tensors = {
    { "input.class", "embeddings.class_embedding" },
    { "input.positions.weight", "embeddings.position_embedding" },
    { "input.patches", "embeddings.patch_embedding" },
    { "l*.attn.q", { joined, part = 1, parts = 3 } },
    { "l*.attn.k", { joined, part = 2, parts = 3 } },
    { "l*.attn.v", { joined, part = 3, parts = 3 } },
    { "l*.attn.out", "encoder.layers.*.self_attn.projection" },
    { "l*.norm1", "encoder.layers.*.layer_norm1" },
    { "l*.ff.up", "encoder.layers.*.mlp.fc1" },
    { "l*.ff.down", "encoder.layers.*.mlp.fc2" },
    { "l*.norm2", "encoder.layers.*.layer_norm2" },
    { "final_norm", "post_layernorm" },
  },
  config = heads.image_config {},
  defaults = { blip_vision_model = { eps = 1e-5, image = 384 } },
  fixed = { norm = "pre", final_norm = true },
  image = { positions = "embeddings.position_embedding" },
  heads = { -- the pooler's output has the last norm twice
    Model = { heads.model()[1], { "pool", over = "first" },
      { "norm", tensor = "post_layernorm", within = true, name = "pooler_output" } },
  },
}
