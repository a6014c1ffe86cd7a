-- bars.lua: draws charts that have a row for each thing, such as bars that are split into parts.
local numbers = require("report.numbers")
local svg = require("report.svg")

local bars = {}

local MOST = 48 -- rows of a chart

--- Draws a chart of rows below each other, with their names on the left and an axis below them. options:
---   legend        items of the legend (svg.lua)
---   left, right   the width of the names; the width right of the axis
---   scale(left, right)          returns the axis
---   title, format               of the axis; format: numbers.tick, if it is not given
---   step, most    the distance of rows; the rows that are drawn at most
---   name(row)     returns the row's name; nil: it is drawn with the row
---   draw(picture, row, x, y)    draws a row, whose top is y. x: the axis
function bars.rows(rows, options, width)
  local picture, left, most = svg.picture(width, 0), options.left, options.most or MOST
  local y = picture:legend(6, 14, options.legend) + 8
  local x, top = options.scale(left, width - options.right), y
  for i = 1, math.min(#rows, most) do
    local name = options.name and options.name(rows[i])
    if name then picture:text(left - 6, y + 13, name, { anchor = "end", width = left - 8 }) end
    options.draw(picture, rows[i], x, y)
    y = y + options.step
  end
  if #rows > most then
    picture:text(left, y + 12, ("and %d more, in the table"):format(#rows - most), { class = "soft" })
    y = y + options.step
  end
  picture:axis_x(x, y, options.title, options.format or numbers.tick, top)
  picture.height = y + 40
  return picture
end

local HEIGHT, STEP = 18, 24 -- height of a bar; distance between bars

--- Draws bars for rows { name, parts = { part -> amount } } for one width, with their sums on the right.
--- options: parts = { { name, colour } } in order; left = width of the names; unit = { scale, title } of the axis;
--- text(amount) = the amount as people read it.
function bars.picture(rows, options, width)
  local most, sums, items, unit = 0, {}, {}, options.unit
  for _, row in ipairs(rows) do
    sums[row] = 0
    for _, part in ipairs(options.parts) do sums[row] = sums[row] + (row.parts[part.name] or 0) end
    most = math.max(most, sums[row])
  end
  for i, part in ipairs(options.parts) do items[i] = { class = "t" .. part.colour, text = part.name } end
  return bars.rows(rows, { legend = items, left = options.left, right = 66, title = unit.title, step = STEP,
    scale = function(left, right) return svg.linear(0, most * unit.scale, left, right, width > 500 and 5 or 4) end,
    name = function(row) return row.name end,
    draw = function(picture, row, x, y)
      local from = x.r0
      for _, part in ipairs(options.parts) do
        local amount = row.parts[part.name] or 0
        if amount > 0 then
          local w = amount / most * (x.r1 - x.r0)
          picture:rect(from, y, w, HEIGHT, "t" .. part.colour, ("%s, %s: %s, %s of it"):format(row.name, part.name,
            options.text(amount), numbers.percent(amount / sums[row])))
          from = from + w
        end
      end
      if sums[row] > 0 then picture:text(from + 5, y + 13, options.text(sums[row]), { class = "soft" }) end
    end }, width)
end

return bars
