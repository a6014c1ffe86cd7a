-- exactness.lua: draws the error of every tensor as a share of its tolerance, in order of execution.
local bars = require("report.bars")
local numbers = require("report.numbers")
local op_words = require("report.op_words")
local svg = require("report.svg")

local exactness = {}

local function number(value) return type(value) == "number" and value or math.huge end

--- Returns the rows of a check that are tensors of the graph, in order, and the other rows (end to end, shipped =
--- trace, run again). A row is { name, op, error, allowed, share, passed, max_abs, rel_l2, relative_error = the error
--- divided by the size of the worst element, or by its tolerance if that is larger }.
function exactness.rows(check)
  local tensors, others = {}, {}
  for _, each in ipairs(check.tensors) do
    local row = { name = each.name, op = type(each.op) == "string" and each.op or nil, allowed = number(each.allowed),
      share = number(each.share), passed = each.passed, max_abs = number(each.max_abs), rel_l2 = number(each.rel_l2) }
    row.error = number(each.share) == 0 and 0 or number(each.share) * row.allowed
    local size = math.max(math.abs(tonumber(each.expected) or 0), row.allowed)
    row.relative_error = row.error > 0 and row.error / size or row.error
    local list = row.op and tensors or others
    list[#list + 1] = row
  end
  return tensors, others
end

--- Returns the row that uses most of its tolerance.
function exactness.worst(check)
  local worst
  for _, list in ipairs(table.pack(exactness.rows(check))) do
    for _, row in ipairs(list) do if not worst or row.share > worst.share then worst = row end end
  end
  return worst
end

local MOST_TIPS, MOST_ROWS = 800, 800 -- tips of a picture and rows of a table: those that use most of their tolerance

-- Returns the share of its tolerance from which a row is among the `most` rows that use most.
local function least_share(rows, most)
  if #rows <= most then return -1 end
  local shares = {}
  for i, row in ipairs(rows) do shares[i] = row.share end
  table.sort(shares, function(a, b) return a > b end)
  return shares[most]
end

--- Returns the row whose relative L2 error is largest, or nil if all are exact.
function exactness.largest(rows)
  local largest
  for _, row in ipairs(rows) do
    if row.rel_l2 > 0 and row.rel_l2 < math.huge and (not largest or row.rel_l2 > largest.rel_l2) then largest = row end
  end
  return largest
end

-- Returns the least and the largest share that a logarithmic axis has to show. They include 1, the tolerance itself.
local function extent(rows)
  local least, most = 0.1, 1
  for _, row in ipairs(rows) do
    if row.share > 0 and row.share < math.huge then
      least, most = math.min(least, row.share), math.max(most, row.share)
    end
  end
  return math.max(least, 1e-6), most
end

local function tip_of(row)
  return ("%s (%s): error %s, allowed %s, %s of it; by the element's size %s"):format(row.name, op_words.of(row.op),
    numbers.short(row.error), numbers.short(row.allowed), numbers.short(row.share, 2),
    numbers.short(row.relative_error))
end

--- Draws the rows of a check that are tensors for one width.
function exactness.picture(rows, width)
  local least, most = extent(rows)
  local picture = svg.picture(width, 330)
  local top = picture:legend(6, 14, { { class = "dash", text = "tolerance", shape = "line" },
    { class = "k1", text = "error", shape = "circle" }, { class = "k2", text = "failed", shape = "diamond" },
    { class = "exact", text = "exact", shape = "circle" } }) + 44
  local left, right, bottom = 58, width - 14, top + 230
  local x = svg.linear(1, math.max(2, #rows), left + 8, right - 4, 6)
  local zero = bottom - 10
  local y = svg.log(least / 2, most * 2, bottom - 26, top, 6)
  picture:axis_x({ r0 = left, r1 = right, ticks = x.ticks, at = function(_, v) return x:at(v) end }, bottom,
    "tensor, in order of execution", numbers.tick)
  picture:axis_y(y, left, "error, share of its tolerance", function(v) return ("%g"):format(v) end,
    right)
  picture:text(left - 7, zero + 4, "0", { anchor = "end", class = "soft", optional = true })
  picture:line(left, bottom - 18, right, bottom - 18, "dash")
  picture:line(left, y:at(1), right, y:at(1), "dash")
  local worst, least_told = { share = 0 }, least_share(rows, MOST_TIPS)
  for i, row in ipairs(rows) do
    local at, tip = x:at(i), row.share >= least_told and tip_of(row) or nil
    local place = row.share == 0 and zero or row.share < math.huge and y:at(math.max(row.share, least)) or top
    if not row.passed then picture:diamond(at, place, 6, "k2", tip)
    elseif row.error == 0 then picture:circle(at, place, 2.6, "exact", tip)
    else picture:circle(at, place, #rows > 300 and 2 or 3.2, "k1", tip) end
    if row.share > worst.share then worst = { share = row.share, x = at, y = place, name = row.name } end
  end
  if worst.name then
    picture:circle(worst.x, worst.y, 7, "mark")
    picture:text(right, top - 24, ("circled: %s, %s of its tolerance"):format(worst.name, numbers.short(worst.share,
      2)), { anchor = "end", class = "strong", width = right - left })
  end
  picture.height = bottom + 42
  return picture
end

exactness.columns = { { "tensor", words = true }, { "operation", words = true }, { "error" }, { "allowed" },
  { "share of it" }, { "error by size" }, { "max abs" }, { "rel L2" }, { "", words = true } }

--- Returns the rows of the picture's table, and the number of rows that were left out.
function exactness.table(check)
  local rows, left_out = {}, 0
  for _, list in ipairs(table.pack(exactness.rows(check))) do
    local least = least_share(list, MOST_ROWS)
    for _, row in ipairs(list) do
      if row.share >= least then
        rows[#rows + 1] = { row.name, row.op and op_words.of(row.op) or "", numbers.short(row.error),
          numbers.short(row.allowed), numbers.short(row.share, 2), numbers.short(row.relative_error),
          numbers.short(row.max_abs), numbers.short(row.rel_l2), row.passed and "ok" or "FAIL",
          differs = not row.passed or nil }
      else
        left_out = left_out + 1
      end
    end
  end
  return rows, left_out
end

-- The measures of an output against f32 that are drawn: key, name, shape and colour.
local measures = { { "relative", "relative error: L2 norm of the difference by that of the output", "circle", "k1" },
  { "largest", "largest difference of an element", "diamond", "k2" } }

--- Draws the outputs of a number type against f32, { name, cosine, relative, top, largest }, for one width. Each output
--- is a line, with its errors on a horizontal logarithmic scale.
function exactness.quality_picture(outputs, width)
  local least, most = math.huge, 0
  for _, row in ipairs(outputs) do
    for _, measure in ipairs(measures) do
      local value = row[measure[1]]
      if value and value > 0 and value < math.huge then least, most = math.min(least, value), math.max(most, value) end
    end
  end
  if most == 0 then least, most = 1e-4, 1e-1 end
  local items = {}
  for i, measure in ipairs(measures) do
    items[i] = { class = measure[4], text = width > 500 and measure[2] or measure[2]:match("^[^:]*"),
      shape = measure[3] }
  end
  return bars.rows(outputs, { legend = items, left = width > 500 and 190 or 104, right = 20, step = 34,
    title = "against f32", format = function(v) return ("%.0e"):format(v) end,
    scale = function(left, right)
      return svg.log(10.0 ^ math.floor(math.log(least, 10) + 1e-9), 10.0 ^ math.ceil(math.log(most, 10) - 1e-9), left,
        right, width > 500 and 8 or 4)
    end,
    draw = function(picture, row, x, y)
      local what = row.cosine and ("cosine %.6f"):format(row.cosine) or row.top
        and numbers.percent(row.top) .. " alike" or "no finite number"
      picture:text(x.r0 - 8, y + 13, row.name, { anchor = "end", width = x.r0 - 12, class = "strong" })
      picture:text(x.r0 - 8, y + 27, what, { anchor = "end", width = x.r0 - 12, class = "soft", size = 10 })
      picture:line(x.r0, y + 16, x.r1, y + 16, "grid")
      for _, measure in ipairs(measures) do
        local value = row[measure[1]]
        if value then
          local at = value <= 0 and x.r0 or value < math.huge and x:at(value) or x.r1
          picture[measure[3]](picture, at, y + 16, 5, measure[4], ("%s: %s %s"):format(row.name, measure[2],
            numbers.short(value)))
        end
      end
    end }, width)
end

exactness.quality_columns = { { "output", words = true }, { "shape", words = true }, { "cosine" },
  { "relative error" }, { "equal top-1" }, { "largest difference" } }

--- Returns the rows of that picture's table.
function exactness.quality_rows(outputs)
  local rows = {}
  for i, row in ipairs(outputs) do
    rows[i] = { row.name, table.concat(row.shape, " × "), row.cosine and ("%.6f"):format(row.cosine) or "–",
      row.relative and numbers.short(row.relative) or "–", row.top and ("%.1f%%"):format(100 * row.top) or "–",
      row.largest and numbers.short(row.largest) or "–" }
  end
  return rows
end

return exactness
