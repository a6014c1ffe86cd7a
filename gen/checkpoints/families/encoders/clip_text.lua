-- clip_text.lua: describes the text tower of CLIP (Radford et al. 2021), from a folder of only it or, with tower=text,
-- of both towers. A text's embedding is that of the token that ends it, which the tokenizer adds.
local heads = require("checkpoints.heads")
local words = require("common.words")

local ended = { "pool", over = "taken", ending = "ending" }
local projected = { ended, { "linear", to = "projection", bias = false, tensor = "text_projection",
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
    { "eos_token_id", to = "ending", default = 49407, kind = "size" },
  }),
  fixed = { norm = "pre", final_norm = true },
  causal = true,
  derive = function(facts, given)
    if facts.model_type == "clip:text" then facts.projection = given.projection_dim or 512 end
    -- as in transformers: 2, which older folders state, means the largest id; an id that no token has, the first row
    facts.taken = facts.ending < facts.vocab and "last" or "first"
    facts.ending = facts.taken == "last" and (facts.ending == 2 and -1 or facts.ending) or false
  end,
  heads = {
    CLIPModel = projected,
    ModelWithProjection = projected,
    Model = { { "hidden", name = "last_hidden_state" }, words.merged(ended, { name = "pooler_output" }) },
  },
}
