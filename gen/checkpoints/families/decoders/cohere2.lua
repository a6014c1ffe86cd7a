-- cohere2.lua: describes Command R7B and A (Cohere 2024): Command R with a window in most layers; the others have no
-- positions.
local cohere = require("checkpoints.cohere")
local heads = require("checkpoints.heads")
local layers = require("checkpoints.layers")

return cohere.family {
  known = "Command R7B, Command A",
  model_types = { cohere2 = "Cohere2" },
  called = { cohere2 = "Cohere 2 (Command R7B and A)" },
  config = cohere.config({ window = 4096, layer_types = false }, {
    { "sliding_window_pattern", to = "pattern", default = 4, kind = "count" },
  }),
  derive = function(facts)
    heads.set_biases(facts)
    facts.bias.norm = false
    local sliding = layers.sliding(facts, function(i) return (i + 1) % facts.pattern ~= 0 end)
    layers.set_still(facts, facts.window and sliding or {})
    layers.set_windows(facts, sliding)
  end,
}
