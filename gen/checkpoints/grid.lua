-- grid.lua: makes the positions of an image's patches from those of another number of patches, as boxes of the table.
-- The interpolation is that of torch.nn.functional.interpolate, mode bicubic, align_corners false: each position is a
-- sum of up to 16 rows of the table. So it is done when weights are read, and costs nothing later.
local grid = {}

local SHARPNESS = -0.75 -- of torch's cubic function

local function near(x) return ((SHARPNESS + 2) * x - (SHARPNESS + 3)) * x * x + 1 end

local function far(x) return ((SHARPNESS * x - 5 * SHARPNESS) * x + 8 * SHARPNESS) * x - 4 * SHARPNESS end

-- Returns for each of `to` places of an axis its sources among `from`: a list of { place, weight }. Places beyond the
-- ends are those at the ends.
local function axis(from, to)
  local result = {}
  for i = 0, to - 1 do
    local middle = (i + 0.5) * from / to - 0.5
    local first = math.floor(middle)
    local t, by_place, list = middle - first, {}, {}
    for k, weight in ipairs { far(t + 1), near(t), near(1 - t), far(2 - t) } do
      local place = math.max(0, math.min(from - 1, first + k - 2))
      by_place[place] = (by_place[place] or 0) + weight
    end
    for place = 0, from - 1 do
      if (by_place[place] or 0) ~= 0 then list[#list + 1] = { place, by_place[place] } end
    end
    result[i + 1] = list
  end
  return result
end

--- Returns the number of patches of a spec's image; 0 without an image.
function grid.count(spec)
  local input = spec.input
  if input.stage ~= "image" or not input.class_token then return math.maxinteger end
  return input.height // input.patch * (input.width // input.patch)
end

--- Returns the boxes of the positions of `tokens` tokens and a spec's patches, in a table of one token and `from`
--- { rows, columns } patches. Tokens after the first have no position: 0.
function grid.views(from, spec, tokens, width)
  local input, views = spec.input, {}
  local rows, columns = input.height // input.patch, input.width // input.patch
  local function add(row, count, first, factor, added)
    views[#views + 1] = { row = row, rows = count, column = 0, columns = width, first = first * width,
      row_step = width, column_step = 1, factor = factor, added = added }
  end
  add(0, 1, 0, 1, false)
  if tokens > 1 then add(1, tokens - 1, 0, 0, false) end
  if from[1] == rows and from[2] == columns then
    add(tokens, rows * columns, 1, 1, false)
    return views
  end
  local down, across = axis(from[1], rows), axis(from[2], columns)
  for r = 1, rows do
    for c = 1, columns do
      local row, added = tokens + (r - 1) * columns + c - 1, false
      for _, y in ipairs(down[r]) do
        for _, x in ipairs(across[c]) do
          add(row, 1, 1 + y[1] * from[2] + x[1], y[2] * x[2], added)
          added = true
        end
      end
    end
  end
  return views
end

return grid
