-- packed.lua: computes the bytes of weights in the packed block.
local types = require("data.types")
local words = require("common.words")

local packed = {}

-- Functions that return a weight's bytes in the packed block, by its layout's format.
local bytes_of = {}

function bytes_of.rows(tensor, layout) return tensor.shape[1] * types.row_bytes(tensor.shape[2] or 1, layout.type) end

-- Panels are `count` of one width, then the tails.
function bytes_of.panels(tensor, layout)
  local function panel_bytes(width)
    return types.panel_bytes(tensor.shape[2] or 1, types.whole_lines(width, "f32"), layout.type)
  end
  return layout.count * panel_bytes(layout.panel) + words.sum(layout.tails, panel_bytes)
end

--- Returns the bytes that a weight takes in the packed block.
function packed.bytes(tensor, layout) return bytes_of[layout.format](tensor, layout) end

return packed
