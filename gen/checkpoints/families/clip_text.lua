-- clip_text.lua: describes the text tower of CLIP (Radford et al. 2021), from a folder of it alone or, with tower=text,
-- of both towers. A text's embedding is that of its last token, which the tokenizer adds.
local heads = require("checkpoints.heads")

local projected = { { "pool", over = "last" }, { "linear", to = "projection", bias = false, tensor = "text_projection",
  name = "text_embeds" } }

return {
  known = "CLIP: the text tower",
  use = "pictures",
  model_types = { clip_text_model = "CLIPText", ["clip:text"] = "" },
  called = { clip_text_model = "CLIP's text tower" },
  inside = { ["clip:text"] = "text_config" },
  prefixes = { "text_model.", "" },
  tensors = heads.clip_layers {
    { "input.tokens", "embeddings.token_embedding" },
    { "input.positions", "embeddings.position_embedding" },
    { "final_norm", "final_layer_norm" },
  },
  config = {
    { "vocab_size", to = "vocab", default = 49408, kind = "count" },
    { "hidden_size", to = "d_model", default = 512, kind = "count" },
    { "num_hidden_layers", to = "layers", default = 12, kind = "count" },
    { "num_attention_heads", to = "heads", default = 8, kind = "count" },
    { "intermediate_size", to = "d_ff", default = 2048, kind = "count" },
    { "hidden_act", to = "activation", default = heads.of_clip, kind = "activation" },
    { "max_position_embeddings", to = "max_position", default = 77, kind = "count" },
    { "layer_norm_eps", to = "eps", default = 1e-5, kind = "number" },
    { "projection_dim", to = "projection", default = 512, kind = "count" },
  },
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
