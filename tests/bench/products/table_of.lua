-- table_of.lua: reads and writes the measured products of a machine. The first line has the machine, the day and the
-- version of the strips (shapes.STRIPS). `# strips N: TARGET TYPE FORM; ...` names lines that have another one.
-- `# in doubt: LINE; LINE` names lines that fit.lua does not judge, by their first five words. Any other line is a
-- product:
--
--   TARGET TYPE FORM OUTPUTSxINPUTS nROWS NANOSECONDS CANDIDATE RATIO CANDIDATE RATIO ...
--
-- Nanoseconds are the fastest candidate's; ratios are times divided by its time, the fastest first. A
-- candidate's name is that of shapes.name.
local files = require("common.files")

local table_of = {}

--- Returns the file name of a machine's table of a day, without its ending.
function table_of.file_name(machine, date)
  return (machine:lower():gsub("[^%w]+", "-"):gsub("^-", ""):gsub("-$", "")) .. "-" .. date
end

--- True if two lines are of the same product.
function table_of.is_same(x, y)
  for _, name in ipairs { "target", "type", "form", "outputs", "inputs", "rows" } do
    if x[name] ~= y[name] then return false end
  end
  return true
end

--- Returns the first five words of a line, which name its product.
function table_of.name(line)
  return ("%s %s %s %dx%d n%d"):format(line.target, line.type, line.form, line.outputs, line.inputs, line.rows)
end

--- Returns the version of the strips that a line of a table was measured with.
function table_of.strips(measured, line)
  return measured.strips_of[("%s %s %s"):format(line.target, line.type, line.form)] or measured.strips
end

--- Returns the table of a file: { machine, date, strips, strips_of, in_doubt = a set of names, lines = { { target,
--- type, form, outputs, inputs, rows, ns, ratios = name -> ratio } } }.
function table_of.read(path)
  local text = assert(files.read(path), path)
  local result = { lines = {}, in_doubt = {}, strips_of = {} }
  result.machine, result.date = text:match("^# ([^\n]-); (%d+%-%d+%-%d+)")
  result.strips = tonumber(text:match("^#[^\n]*; strips (%d+)\n")) or 1
  for version, list in text:gmatch("\n# strips (%d+): ([^\n]+)") do
    for name in list:gmatch("[^;%s][^;]*") do result.strips_of[name] = tonumber(version) end
  end
  for list in text:gmatch("\n# in doubt: ([^\n]+)") do
    for name in list:gmatch("[^;%s][^;]*") do result.in_doubt[name] = true end
  end
  for line in text:gmatch("[^\n]+") do
    local target, word, form, m, k, n, ns, rest = line:match("^(%w+) (%w+) (%w+) (%d+)x(%d+) n(%d+) (%d+)(.*)$")
    if target then
      local each = { target = target, type = word, form = form, outputs = tonumber(m), inputs = tonumber(k),
        rows = tonumber(n), ns = tonumber(ns), ratios = {} }
      for name, ratio in rest:gmatch(" (%w+) ([%d.]+)") do each.ratios[name] = tonumber(ratio) end
      result.lines[#result.lines + 1] = each
    end
  end
  return result
end

local function text_of(line)
  local names = {}
  for name in pairs(line.ratios) do names[#names + 1] = name end
  table.sort(names, function(x, y)
    if line.ratios[x] ~= line.ratios[y] then return line.ratios[x] < line.ratios[y] end
    return x < y
  end)
  for i, name in ipairs(names) do names[i] = ("%s %.3f"):format(name, line.ratios[name]) end
  return ("%s %.0f %s"):format(table_of.name(line), line.ns, table.concat(names, " "))
end

--- Writes a table of lines of which none is in doubt.
function table_of.write(path, of)
  local lines = { ("# %s; %s; products measured by tests/bench/products/measure.lua; strips %d"):format(of.machine,
    of.date, of.strips) }
  for _, line in ipairs(of.lines) do lines[#lines + 1] = text_of(line) end
  local folder, name = path:match("^(.*)/([^/]*)$")
  files.write_all(folder, { { name = name, text = table.concat(lines, "\n") .. "\n" } })
end

return table_of
