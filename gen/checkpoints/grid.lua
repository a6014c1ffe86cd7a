-- grid.lua: makes the positions of an image's patches from the positions of another number of patches, as boxes of the
-- table. They are interpolated when weights are read (runtime/reading/resized.c), so that they cost nothing later.
local stages = require("data.stages")

local grid = {}

-- The most rows or columns of a grid: a box has both in one number.
local MOST = 65535

--- Returns the number of patches of a spec's image, or nil without an image.
function grid.count(spec)
  if spec.input.stage ~= "image" then return nil end
  local rows, columns = stages.patches(spec.input)
  return rows * columns
end

--- Returns the number of tokens before the patches that have positions in a rule's table.
function grid.tokens(rule) return rule.tokens or 1 end

--- Returns the boxes of the positions of `tokens` tokens and a spec's patches, in a rule's table of tokens and of a
--- grid of patches. Tokens after the table's have no position: 0. nil: the grid is too large.
function grid.views(rule, spec, tokens, width)
  local from, views = rule.grid, {}
  local rows, columns = stages.patches(spec.input)
  if math.max(from[1], from[2], rows, columns) > MOST then return nil end
  local function add(row, count, first, factor)
    views[#views + 1] = { row = row, rows = count, column = 0, columns = width, first = first * width,
      row_step = width, column_step = 1, factor = factor }
    return views[#views]
  end
  local own = grid.tokens(rule)
  if own > 0 then add(0, own, 0, 1) end
  if tokens > own then add(own, tokens - own, 0, 0).row_step = 0 end -- the table may have fewer rows than these
  local patches = add(tokens, rows * columns, own, 1)
  if from[1] ~= rows or from[2] ~= columns then
    patches.resized, patches.smooth = true, rule.smooth
    patches.row_step, patches.column_step = from[1] << 16 | from[2], columns
  end
  return views
end

return grid
