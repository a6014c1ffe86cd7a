-- comparison.lua: several subjects side by side: the numbers of each, and how they differ from the first's.
local numbers = require("report.numbers")
local svg = require("report.svg")

local comparison = {}

-- What is compared: title, value(subject) (nil: it has none), format; better: "less" or "more".
local function ms(x) return numbers.short(x) end
local measures = {
  { "ms, median", function(s) return s.bench and s.bench.ms_median end, ms, better = "less" },
  { "ms, least", function(s) return s.bench and s.bench.ms_min end, ms, better = "less" },
  { "ms, p95", function(s) return s.bench and s.bench.ms_p95 end, ms, better = "less" },
  { "GFLOP/s", function(s) return s.bench and s.bench.gflops end, ms, better = "more" },
  { "of the roof", function(s) return s.bench and s.bench.roof_fraction end, ms, better = "more" },
  { "of the bound", function(s) return s.bench and s.bench.bound_fraction end, ms, better = "more" },
  { "Mflop a call", function(s) return (s.bench or s.entry_info) and (s.bench or s.entry_info).flops / 1e6 end, ms },
  { "arena, bytes", function(s) return (s.bench or s.entry_info or {}).arena_bytes end, numbers.whole, better = "less" },
  { "packed weights, bytes", function(s) return (s.bench or s.info or {}).weight_bytes end, numbers.whole,
    better = "less" },
  { "parameters", function(s) return s.info and s.info.parameters end, numbers.whole },
  { "kernels", function(s) return (s.bench or s.info or {}).kernels end, numbers.whole },
  { "emitted steps", function(s) return s.info and s.info.lines end, numbers.whole, better = "less" },
  { "emitted C, bytes", function(s) return s.emitted_bytes end, numbers.whole, better = "less" },
  { "program, bytes", function(s) return s.program_bytes end, numbers.whole, better = "less" },
  { "threads", function(s) return (s.bench or s.info or {}).threads end, numbers.whole },
  { "worst share of a tolerance", function(s) return s.worst and s.worst.share end, ms, better = "less" },
}

local function is_number(value) return type(value) == "number" and value == value end

--- Columns and rows of the table of subjects { label, bench, info, ... }; a row whose numbers differ is marked. Of two
--- subjects the last column has the second's number divided by the first's.
function comparison.table(all)
  local columns, rows = { { "", words = true } }, {}
  for _, subject in ipairs(all) do columns[#columns + 1] = { subject.label } end
  if #all == 2 then columns[#columns + 1] = { "second / first" } end
  local function add(title, values, format, better)
    local row, differs, some = { title }, false, false
    for i = 1, #all do
      local value = values[i]
      some = some or value ~= nil
      differs = differs or value ~= values[1]
      row[#row + 1] = value == nil and "–" or format(value)
    end
    if not some then return end
    if #all == 2 then
      local text = ""
      if is_number(values[1]) and is_number(values[2]) and values[1] ~= 0 and differs then
        local ratio = values[2] / values[1]
        local good = better and ratio ~= 1 and ((ratio < 1) == (better == "less"))
        text = numbers.short(ratio) .. (better and math.abs(ratio - 1) > 0.02 and (good and " ▲" or " ▼") or "")
      end
      row[#row + 1] = text
    end
    row.differs = differs or nil
    rows[#rows + 1] = row
  end
  for _, key in ipairs { "model", "entry", "target", "precision" } do
    local values = {}
    for i, subject in ipairs(all) do values[i] = subject.bench and subject.bench[key] end
    add(key, values, tostring)
  end
  for _, measure in ipairs(measures) do
    local values = {}
    for i, subject in ipairs(all) do
      local value = measure[2](subject)
      if is_number(value) then values[i] = value end
    end
    add(measure[1], values, measure[3], measure.better)
  end
  return columns, rows
end

--- Operations of subjects that have a profile, by kind: names in order, and name -> ms for each subject.
function comparison.operations(all)
  local names, seen, of = {}, {}, {}
  for i, subject in ipairs(all) do
    of[i] = {}
    for _, row in ipairs(subject.bench and subject.bench.profile and subject.bench.profile.ops or {}) do
      if not seen[row.name] and row.ms > 0 then
        seen[row.name] = true
        names[#names + 1] = row.name
      end
      of[i][row.name] = row.ms
    end
  end
  return names, of
end

--- Bars of each kind of operation, a subject a colour.
function comparison.bars(all, width)
  local names, of = comparison.operations(all)
  local picture, left, most = svg.picture(width, 0), 84, 0
  for i = 1, #all do for _, name in ipairs(names) do most = math.max(most, of[i][name] or 0) end end
  local items = {}
  for i, subject in ipairs(all) do items[i] = { class = "t" .. (i - 1) % 6 + 1, text = subject.label } end
  local y = picture:legend(6, 14, items) + 8
  local x = svg.linear(0, most, left, width - 62, 5)
  local top = y
  local bar = #all > 3 and 9 or 13
  for _, name in ipairs(names) do
    picture:text(left - 6, y + 11, name, { anchor = "end", width = left - 8 })
    for i, subject in ipairs(all) do
      local value = of[i][name] or 0
      local w = value / most * (x.r1 - left)
      picture:rect(left, y, w, bar - 1, "t" .. (i - 1) % 6 + 1, ("%s, %s: %s"):format(subject.label, name,
        numbers.time(value)))
      if bar > 10 then picture:text(left + w + 5, y + 10, numbers.short(value), { class = "soft", size = 10 }) end
      y = y + bar
    end
    y = y + 8
  end
  picture:axis_x(x, y, "ms", numbers.tick, top)
  picture.height = y + 40
  return picture
end

--- Columns and rows of the table of operations.
function comparison.operation_table(all)
  local names, of = comparison.operations(all)
  local columns, rows = { { "operation", words = true } }, {}
  for _, subject in ipairs(all) do columns[#columns + 1] = { subject.label .. ", ms" } end
  for _, name in ipairs(names) do
    local row = { name }
    for i = 1, #all do row[#row + 1] = of[i][name] and numbers.short(of[i][name]) or "–" end
    rows[#rows + 1] = row
  end
  return columns, rows
end

return comparison
