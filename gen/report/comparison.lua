-- comparison.lua: compares several subjects: the numbers of each, and how they differ from the first's.
local bars = require("report.bars")
local numbers = require("report.numbers")
local op_words = require("report.op_words")
local terminal = require("common.terminal")

local comparison = {}

-- The measures: title, value(subject) (nil if it has none), format, better = "less" or "more".
local function ms(x) return numbers.short(x) end
local measures = {
  { "ms, median", function(s) return s.bench and s.bench.ms_median end, ms, better = "less" },
  { "ms, least", function(s) return s.bench and s.bench.ms_min end, ms, better = "less" },
  { "ms, p95", function(s) return s.bench and s.bench.ms_p95 end, ms, better = "less" },
  { "GFLOP/s", function(s) return s.bench and s.bench.gflops end, ms, better = "more" },
  { "of the peak", function(s) return s.bench and s.bench.roof_fraction end, ms, better = "more" },
  { "of the bound", function(s) return s.bench and s.bench.bound_fraction end, ms, better = "more" },
  { "Mflop a call", function(s) return (s.bench or s.entry_info) and (s.bench or s.entry_info).flops / 1e6 end, ms },
  { "arena, bytes", function(s) return (s.bench or s.entry_info or {}).arena_bytes end, numbers.whole,
    better = "less" },
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

-- True if a value of a user's file is a finite number of at least 0.
local function is_measure(value) return is_number(value) and value >= 0 and value < 1e30 end

-- The members that a comparison takes from an object of bench -o json. The first of the numbers is required.
local bench_texts = { "model", "entry", "target", "precision" }
local bench_numbers = { "ms_median", "flops", "gflops", "roof_gflops", "ms_min", "ms_p95", "ms_p99", "roof_fraction",
  "bound_fraction", "arena_bytes", "weight_bytes", "kernels", "threads" }
local NEEDED = 4
local MOST_OPERATIONS, MOST_BYTES = 100, 100 -- operations of a profile; bytes of a text

--- Returns a row of bench from an object of a user's file, or nil if it is not one. Other members are left out.
function comparison.bench(object)
  if type(object) ~= "table" then return nil end
  local row = {}
  for _, key in ipairs(bench_texts) do
    row[key] = type(object[key]) == "string" and terminal.short(object[key], MOST_BYTES) or nil
  end
  for i, key in ipairs(bench_numbers) do
    row[key] = is_measure(object[key]) and object[key] or nil
    if i <= NEEDED and not row[key] then return nil end
  end
  local ops = type(object.profile) == "table" and object.profile.ops
  row.profile = { ops = {} }
  for _, op in ipairs(type(ops) == "table" and ops or {}) do
    local known = type(op) == "table" and type(op.name) == "string" and is_measure(op.ms)
    if known and #row.profile.ops < MOST_OPERATIONS then
      table.insert(row.profile.ops, { name = terminal.short(op.name, MOST_BYTES), ms = op.ms })
    end
  end
  return row
end

-- Returns the measures that some subject has: { title, values (nil if a subject has none), format, better, differs }.
local function measured(all)
  local list = {}
  local function add(title, format, better, value_of)
    local values, some, differs = {}, false, false
    for i, subject in ipairs(all) do
      values[i] = value_of(subject)
      some, differs = some or values[i] ~= nil, differs or values[i] ~= values[1]
    end
    if some then
      list[#list + 1] = { title = title, values = values, format = format, better = better, differs = differs or nil }
    end
  end
  for _, key in ipairs { "model", "entry", "target", "precision" } do
    add(key, tostring, nil, function(subject) return subject.bench and subject.bench[key] end)
  end
  for _, measure in ipairs(measures) do
    add(measure[1], measure[3], measure.better, function(subject)
      local value = measure[2](subject)
      return is_number(value) and value or nil
    end)
  end
  return list
end

local function shown(measure, i) return measure.values[i] == nil and "–" or measure.format(measure.values[i]) end

-- Returns the second number divided by the first, as text that says if it is better or worse.
local function ratio_of(measure)
  local first, second = measure.values[1], measure.values[2]
  if not (measure.differs and is_number(first) and is_number(second)) or first == 0 then return "" end
  local ratio = second / first
  local good = (ratio < 1) == (measure.better == "less")
  local matters = measure.better and math.abs(ratio - 1) > 0.02
  return numbers.short(ratio) .. (matters and (good and ", better" or ", worse") or "")
end

--- Returns the columns and rows of a table of two subjects { label, bench, info, ... }. A row whose numbers differ is
--- marked. The last column has the second's number divided by the first's.
function comparison.pair(all)
  local rows = {}
  for i, measure in ipairs(measured(all)) do
    rows[i] = { measure.title, shown(measure, 1), shown(measure, 2), ratio_of(measure), differs = measure.differs }
  end
  return { { "", words = true }, { all[1].label }, { all[2].label }, { "second / first" } }, rows
end

--- Returns a table of more than two subjects, one per row, with a column for each measure that differs. Also returns
--- the measures that are equal, as names and values.
function comparison.several(all)
  local columns, rows, same = { { "", words = true } }, {}, {}
  for i, subject in ipairs(all) do rows[i] = { subject.label } end
  for _, measure in ipairs(measured(all)) do
    if measure.title ~= "entry" and measure.differs then
      columns[#columns + 1] = { measure.title }
      for i = 1, #all do table.insert(rows[i], shown(measure, i)) end
    elseif measure.title ~= "entry" then
      same[#same + 1] = { measure.title, shown(measure, 1) }
    end
  end
  return columns, rows, same
end

--- Returns the operations of subjects that have a profile, by kind: names in order, and name -> ms for each subject.
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

local MOST_PARTS = 5 -- parts of a bar; the others are joined to one

-- Returns ms by the operations' names on a page, for each subject and for all together.
local function by_words(names, of)
  local each, total = {}, {}
  for i, ms_of in ipairs(of) do
    each[i] = {}
    for _, name in ipairs(names) do
      local word, spent = op_words.of(name), ms_of[name] or 0
      each[i][word] = (each[i][word] or 0) + spent
      total[word] = (total[word] or 0) + spent
    end
  end
  return each, total
end

--- Draws one bar per subject, split by operation.
function comparison.bars(all, width)
  local each, total = by_words(comparison.operations(all))
  local order = {}
  for word in pairs(total) do order[#order + 1] = word end
  table.sort(order, function(a, b)
    if total[a] ~= total[b] then return total[a] > total[b] end
    return a < b
  end)
  local parts, part_of, known = {}, {}, {}
  for i, word in ipairs(order) do
    local part = i <= MOST_PARTS and word or "others"
    if not known[part] then parts[#parts + 1] = { name = part, colour = #parts + 1 } end
    part_of[word], known[part] = part, true
  end
  local rows, most = {}, 0
  for i, subject in ipairs(all) do
    local row, sum = { name = subject.label, parts = {} }, 0
    for _, word in ipairs(order) do
      row.parts[part_of[word]] = (row.parts[part_of[word]] or 0) + each[i][word]
      sum = sum + each[i][word]
    end
    rows[i], most = row, math.max(most, sum)
  end
  return bars.picture(rows, { parts = parts, left = width > 500 and 130 or 92, unit = numbers.time_unit(most),
    text = numbers.time }, width)
end

--- Returns the columns and rows of the table of operations.
function comparison.operation_table(all)
  local names, of = comparison.operations(all)
  local columns, rows = { { "operation", words = true } }, {}
  for _, subject in ipairs(all) do columns[#columns + 1] = { subject.label .. ", ms" } end
  for _, name in ipairs(names) do
    local row = { op_words.of(name) }
    for i = 1, #all do row[#row + 1] = of[i][name] and numbers.short(of[i][name]) or "–" end
    rows[#rows + 1] = row
  end
  return columns, rows
end

return comparison
