-- exactness.lua: the error of every tensor against the reference, beside what it is allowed, in order of execution.
local numbers = require("report.numbers")
local svg = require("report.svg")

local exactness = {}

local function number(value) return type(value) == "number" and value or math.huge end

--- The rows of a check that are tensors of the graph, in order: { name, op, error, allowed, share, passed, max_abs,
--- rel_l2 }; then the others (end to end, shipped = trace, run again).
function exactness.rows(check)
  local tensors, others = {}, {}
  for _, each in ipairs(check.tensors) do
    local row = { name = each.name, op = type(each.op) == "string" and each.op or nil, allowed = number(each.allowed),
      share = number(each.share), passed = each.passed, max_abs = number(each.max_abs), rel_l2 = number(each.rel_l2) }
    row.error = number(each.share) == 0 and 0 or number(each.share) * row.allowed
    local list = row.op and tensors or others
    list[#list + 1] = row
  end
  return tensors, others
end

--- The row that uses most of its tolerance.
function exactness.worst(check)
  local worst
  for _, list in ipairs(table.pack(exactness.rows(check))) do
    for _, row in ipairs(list) do if not worst or row.share > worst.share then worst = row end end
  end
  return worst
end

--- Draws the tensors of several checks { { label, rows } } for one width; the errors of a second and later one have
--- colours of their own.
function exactness.picture(all, width)
  local least, most, count = math.huge, 0, 1
  for _, each in ipairs(all) do
    count = math.max(count, #each.rows)
    for _, row in ipairs(each.rows) do
      for _, value in ipairs { row.error, row.allowed } do
        if row.error > 0 and value > 0 and value < math.huge then
          least, most = math.min(least, value), math.max(most, value)
        end
      end
    end
  end
  if most == 0 then least, most = 1e-7, 1e-6 end
  local picture = svg.picture(width, 330)
  local items = { { class = "s6", text = "allowed", shape = "line" } }
  if #all == 1 then
    items[#items + 1] = { class = "k1", text = "error", shape = "circle" }
    items[#items + 1] = { class = "k2", text = "failed", shape = "diamond" }
    items[#items + 1] = { class = "plain", text = "exact", shape = "circle" }
  else
    for i, each in ipairs(all) do items[#items + 1] = { class = "k" .. (i - 1) % 6 + 1, text = each.label,
      shape = "circle" } end
  end
  local top = picture:legend(6, 14, items) + 44
  local left, right, bottom = 58, width - 14, top + 230
  local x = svg.linear(1, math.max(2, count), left + 8, right - 4, 6)
  local zero = bottom - 10
  local y = svg.log(least / 2, most * 2, bottom - 26, top, 6)
  picture:axis_x({ r0 = left, r1 = right, ticks = x.ticks, at = function(_, v) return x:at(v) end }, bottom,
    "tensor, in order of execution", numbers.tick)
  picture:axis_y(y, left, "error of the worst element, and what it may be", function(v) return ("%.0e"):format(v) end,
    right)
  picture:text(left - 7, zero + 4, "0", { anchor = "end", class = "soft", optional = true })
  picture:line(left, bottom - 18, right, bottom - 18, "dash")
  local half = math.max(1.5, math.min(7, (right - left) / count * 0.35))
  local worst = { share = 0 }
  for number_of, each in ipairs(all) do
    for i, row in ipairs(each.rows) do
      local at = x:at(i)
      if row.allowed > 0 and row.allowed < math.huge then
        local level = math.max(top, math.min(bottom - 20, y:at(row.allowed))) -- those of exact ones may lie far out
        picture:line(at - half, level, at + half, level, "s6")
      end
      local tip = ("%s%s (%s): error %s, allowed %s, %s of it"):format(#all > 1 and each.label .. ": " or "", row.name,
        row.op, numbers.short(row.error), numbers.short(row.allowed), numbers.short(row.share, 2))
      local place = row.error > 0 and row.error < math.huge and y:at(row.error) or row.error == 0 and zero or top
      if not row.passed then picture:diamond(at, place, 6, "k2", tip)
      elseif row.error == 0 then picture:circle(at, place, 2.6, "plain", tip)
      else picture:circle(at, place, count > 300 and 2 or 3.2, "k" .. (#all > 1 and (number_of - 1) % 6 + 1 or 1),
        tip) end
      if row.share > worst.share then worst = { share = row.share, x = at, y = place, name = row.name } end
    end
  end
  if worst.name then
    picture:circle(worst.x, worst.y, 7, "mark")
    picture:text(right, top - 24, ("circled: %s, %s of its tolerance"):format(worst.name, numbers.short(worst.share,
      2)),
      { anchor = "end", class = "strong", width = right - left })
  end
  picture.height = bottom + 42
  return picture
end

exactness.columns = { { "tensor", words = true }, { "operation", words = true }, { "error" }, { "allowed" },
  { "share of it" }, { "max abs" }, { "rel L2" }, { "", words = true } }

--- The rows of its table.
function exactness.table(check)
  local rows = {}
  for _, list in ipairs(table.pack(exactness.rows(check))) do
    for _, row in ipairs(list) do
      rows[#rows + 1] = { row.name, row.op or "", numbers.short(row.error), numbers.short(row.allowed),
        numbers.short(row.share, 2), numbers.short(row.max_abs), numbers.short(row.rel_l2), row.passed and "ok"
          or "FAIL",
        differs = not row.passed or nil }
    end
  end
  return rows
end

return exactness
