-- bars.lua: draws bars that are split into parts, one per row, with names on the left and sums on the right.
local numbers = require("report.numbers")
local svg = require("report.svg")

local bars = {}

local HEIGHT, STEP, MOST = 18, 24, 48 -- height of a bar; distance between bars; bars in a picture

--- Draws rows { name, parts = { part -> amount } } for one width.
--- options: parts = { { name, colour } } in order; left = width of the names; unit = { scale, title } of the axis;
--- text(amount) = the amount as people read it.
function bars.picture(rows, options, width)
  local picture, left, most, sums, items = svg.picture(width, 0), options.left, 0, {}, {}
  for i, row in ipairs(rows) do
    sums[i] = 0
    for _, part in ipairs(options.parts) do sums[i] = sums[i] + (row.parts[part.name] or 0) end
    most = math.max(most, sums[i])
  end
  for i, part in ipairs(options.parts) do items[i] = { class = "t" .. part.colour, text = part.name } end
  local y = picture:legend(6, 14, items) + 8
  local x = svg.linear(0, most * options.unit.scale, left, width - 66, width > 500 and 5 or 4)
  local top = y
  for i = 1, math.min(#rows, MOST) do
    local row, from = rows[i], left
    picture:text(left - 6, y + 13, row.name, { anchor = "end", width = left - 8 })
    for _, part in ipairs(options.parts) do
      local amount = row.parts[part.name] or 0
      if amount > 0 then
        local w = amount / most * (x.r1 - left)
        picture:rect(from, y, w, HEIGHT, "t" .. part.colour, ("%s, %s: %s, %s of it"):format(row.name, part.name,
          options.text(amount), numbers.percent(amount / sums[i])))
        from = from + w
      end
    end
    if sums[i] > 0 then picture:text(from + 5, y + 13, options.text(sums[i]), { class = "soft" }) end
    y = y + STEP
  end
  if #rows > MOST then
    picture:text(left, y + 12, ("and %d more, in the table"):format(#rows - MOST), { class = "soft" })
    y = y + STEP
  end
  picture:axis_x(x, y, options.unit.title, numbers.tick, top)
  picture.height = y + 40
  return picture
end

return bars
