-- accepted.lua: tells whether the compiler accepts a drawn description.
local pipeline = require("pipeline")

-- The passes that refuse a description.
local refusing = { "validate", "tokenizer", "graph", "ranks" }

--- Returns true if it does. exposed: whether inner tensors are outputs, too.
return function(d, exposed)
  return pcall(function()
    local state = { file = "drawn.lua", overrides = {}, description = d, notes = {}, exposed = exposed }
    function state.host() return "avx2" end
    for _, name in ipairs(refusing) do pipeline.step(state, name) end
  end)
end
