-- cohere.lua: describes Command R (Cohere 2024): parallel parts with one norm, layer norms without a bias, neighbouring
-- dimensions rotated, and a factor of the logits.
local cohere = require("checkpoints.cohere")
local heads = require("checkpoints.heads")

return cohere.family {
  known = "Command R, Command R+, Aya 23 and Expanse",
  model_types = { cohere = "Cohere" },
  called = { cohere = "Cohere (Command R)" },
  config = cohere.config({ rope_theta = 5e5 }, {
    { "use_qk_norm", to = "use_qk_norm", default = false, kind = "flag" },
  }),
  derive = function(facts)
    heads.set_biases(facts)
    facts.bias.norm, facts.qk_norm = false, facts.use_qk_norm and "each" or nil
  end,
}
