-- clip_text.lua: describes the text tower of CLIP (Radford et al. 2021), from a folder of only it or, with tower=text,
-- of both towers. A text's embedding is that of its last token, which the tokenizer adds.
local heads = require("checkpoints.heads")

local projected = { { "pool", over = "last" }, { "linear", to = "projection", bias = false, tensor = "text_projection",
  name = "text_embeds" } }

return {
  known = "CLIP: the text tower",
  model_types = { clip_text_model = "CLIPText", ["clip:text"] = "" },
  called = { clip_text_model = "CLIP's text tower" },
  inside = { ["clip:text"] = "text_config" },
  prefixes = { "text_model.", "" },
  tensors = heads.clip_layers(heads.of_clip_texts),
  config = heads.config({ vocab = 49408, d_model = 512, layers = 12, heads = 8, d_ff = 2048,
    activation = heads.of_clip, max_position = 77, eps = 1e-5 }, {
    { "projection_dim", to = "projection", default = 512, kind = "count" },
  }),
  fixed = { norm = "pre", final_norm = true },
  causal = true,
  derive = function(facts, given)
    if facts.model_type == "clip:text" then facts.projection = given.projection_dim or 512 end
  end,
  heads = {
    CLIPModel = projected,
    ModelWithProjection = projected,
    Model = { { "hidden", name = "last_hidden_state" }, { "pool", over = "last", name = "pooler_output" } },
  },
}
