-- siglip_text.lua: describes the text tower of SigLIP (Zhai et al. 2023), from a folder of only it or, with
-- tower=text, of both towers. Texts are filled up to one length with tokens that the model sees as any other; the
-- state of the last one makes the embedding.
local heads = require("checkpoints.heads")

-- The stages of the head, whose result is an output of this name.
local function projected(name)
  return { { "pool", over = "last" }, { "linear", to = "projection", tensor = "head", within = true, name = name } }
end

local pooled = projected("pooler_output")

return {
  known = "SigLIP and SigLIP 2: the text tower",
  model_types = { siglip_text_model = "SiglipText", ["siglip:text"] = "", siglip2_text_model = "Siglip2Text",
    ["siglip2:text"] = "" },
  called = { siglip_text_model = "SigLIP's text tower", siglip2_text_model = "SigLIP 2's text tower" },
  inside = { ["siglip:text"] = "text_config", ["siglip2:text"] = "text_config" },
  prefixes = { "text_model.", "" },
  tensors = heads.clip_layers(heads.of_clip_texts),
  config = heads.config({ vocab = 32000, d_model = 768, layers = 12, heads = 12, d_ff = 3072,
    activation = "gelu_pytorch_tanh", max_position = 64, eps = 1e-6 }, {
    { "projection_size", to = "projection", default = false, kind = "count" },
  }),
  fixed = { norm = "pre", final_norm = true },
  padded = true,
  derive = function(facts) facts.projection = facts.projection or facts.d_model end,
  heads = {
    SiglipModel = projected("text_embeds"), Siglip2Model = projected("text_embeds"),
    Model = { { "hidden", name = "last_hidden_state" }, table.unpack(pooled) },
  },
}
