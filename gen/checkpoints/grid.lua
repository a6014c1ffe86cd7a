-- grid.lua: makes the positions of an image's patches from those of another number of patches, as boxes of the table.
-- They are interpolated when weights are read (runtime/weights/resized.c), so that they cost nothing later.
local grid = {}

-- The most rows or columns of a grid: a box has both in one number.
local MOST = 65535

--- Returns the number of patches of a spec's image; 0 without an image.
function grid.count(spec)
  local input = spec.input
  if input.stage ~= "image" or not input.class_token then return math.maxinteger end
  return input.height // input.patch * (input.width // input.patch)
end

--- Returns the boxes of the positions of `tokens` tokens and a spec's patches, in a table of one token and of the
--- rule's grid of patches. Tokens after the first have no position: 0. nil: the grid is too large.
function grid.views(rule, spec, tokens, width)
  local input, from, views = spec.input, rule.grid, {}
  local rows, columns = input.height // input.patch, input.width // input.patch
  if math.max(from[1], from[2], rows, columns) > MOST then return nil end
  local function add(row, count, first, factor)
    views[#views + 1] = { row = row, rows = count, column = 0, columns = width, first = first * width,
      row_step = width, column_step = 1, factor = factor }
    return views[#views]
  end
  add(0, 1, 0, 1)
  if tokens > 1 then add(1, tokens - 1, 0, 0) end
  local patches = add(tokens, rows * columns, 1, 1)
  if from[1] ~= rows or from[2] ~= columns then
    patches.resized, patches.smooth = true, rule.smooth
    patches.row_step, patches.column_step = from[1] << 16 | from[2], columns
  end
  return views
end

return grid
