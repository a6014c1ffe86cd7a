-- packed.lua: computes the bytes of weights in the packed block.
local types = require("data.types")

local packed = {}

-- Functions that return a weight's bytes in the packed block, by its layout's format.
local bytes_of = {}

function bytes_of.rows(tensor, layout) return tensor.shape[1] * types.row_bytes(tensor.shape[2] or 1, layout.type) end

-- Most panels of a weight have the same width, and so the same bytes.
function bytes_of.panels(tensor, layout)
  local bytes, last, each = 0, nil, nil
  for _, width in ipairs(layout.widths) do
    if width ~= last then
      last, each = width, types.panel_bytes(tensor.shape[2] or 1, types.whole_lines(width, "f32"), layout.type)
    end
    bytes = bytes + each
  end
  return bytes
end

--- Returns the bytes that a weight takes in the packed block.
function packed.bytes(tensor, layout) return bytes_of[layout.format](tensor, layout) end

return packed
