-- losses.lua: computes what the rule loses on measured products.
local shapes = require("shapes")
local words = require("common.words")

local losses = {}

local NAME = "^(%d+)f(%d+)s(%d+)t(%d+)$"

-- Returns the choice that a candidate's name stands for.
local function choice_of(name)
  local panel, fetch, stream, token_block = name:match(NAME)
  return { panel = tonumber(panel), fetch = tonumber(fetch), stream = 1024 * tonumber(stream),
    token_block = tonumber(token_block), call_rows = 4096 }
end

--- Returns the time of a choice divided by the best, or nil if no candidate makes the same calls.
function losses.ratio_of(line, choice)
  local direct = line.ratios[shapes.name(choice)]
  if direct then return direct end
  local is_open = line.form == "open"
  local signature = shapes.calls(line.target, line.type, line, choice, is_open).signature
  for _, name in ipairs(words.sorted_keys(line.ratios)) do
    if shapes.calls(line.target, line.type, line, choice_of(name), is_open).signature == signature then
      return line.ratios[name]
    end
  end
  return nil
end

--- Returns the lines of a table by target, type and form, in order of first appearance.
function losses.groups(lines)
  local list, by = {}, {}
  for _, line in ipairs(lines) do
    local key = ("%s %s %s"):format(line.target, line.type, line.form)
    if not by[key] then
      by[key] = { target = line.target, type = line.type, form = line.form, lines = {} }
      list[#list + 1] = by[key]
    end
    table.insert(by[key].lines, line)
  end
  return list
end

-- Returns a line's fastest candidate's name.
local function best_of(line)
  local best
  for name, ratio in pairs(line.ratios) do
    if not best or ratio < line.ratios[best] or ratio == line.ratios[best] and name < best then best = name end
  end
  return best
end

--- Returns what the rule loses on a group of lines: { mean: geometric, worst, above: number of ratios above `most`,
--- unknown: number of lines where the rule's choice was not measured, list = { { line, ratio, rule, best } } }, the
--- worst first.
function losses.of(group, most)
  local result, sum = { above = 0, unknown = 0, list = {} }, 0
  for _, line in ipairs(group.lines) do
    local rule = shapes.rule(line.target, line.type, line, line.form == "open")
    local ratio = losses.ratio_of(line, rule)
    if ratio then
      sum = sum + math.log(ratio)
      result.above = result.above + (ratio > most and 1 or 0)
      result.list[#result.list + 1] = { line = line, ratio = ratio, rule = shapes.name(rule), best = best_of(line) }
    else
      result.unknown = result.unknown + 1
    end
  end
  table.sort(result.list, function(x, y)
    if x.ratio ~= y.ratio then return x.ratio > y.ratio end
    if x.line.rows ~= y.line.rows then return x.line.rows < y.line.rows end
    return x.line.outputs * 8192 + x.line.inputs < y.line.outputs * 8192 + y.line.inputs
  end)
  result.mean = #result.list > 0 and math.exp(sum / #result.list) or 1
  result.worst = result.list[1]
  return result
end

-- True if the rule cannot tell two lines apart: it knows a product's inputs, and its rows if they are constants.
local function is_alike(a, b)
  return a.target == b.target and a.type == b.type and a.form == b.form and a.inputs == b.inputs
    and (a.form == "open" or a.rows == b.rows)
end

-- Returns the worst ratio of a choice in some lines, or nil if it was not measured in one of them.
local function worst_of(lines, choice)
  local worst = 0
  for _, line in ipairs(lines) do
    local ratio = losses.ratio_of(line, choice)
    if not ratio then return nil end
    worst = math.max(worst, ratio)
  end
  return worst
end

--- Returns the least that any choice loses in the worst of the lines, of all machines, that the rule cannot tell from
--- one line: { worst, name: the choice's, count: number of lines }.
function losses.best_possible(all, line)
  local alike, best = {}, { worst = math.huge }
  for _, other in ipairs(all) do if is_alike(line, other) then alike[#alike + 1] = other end end
  for _, choice in ipairs(shapes.choices()) do
    local worst = worst_of(alike, choice)
    if worst and worst < best.worst then best = { worst = worst, name = shapes.name(choice) } end
  end
  best.count = #alike
  return best
end

--- Returns a loss as text.
function losses.text(each)
  return ("%.3f at %dx%d n %d (%s, best %s)"):format(each.ratio, each.line.outputs, each.line.inputs, each.line.rows,
    each.rule, each.best)
end

--- Prints whether the rule follows what was found on machines without a table. text: that of elsewhere.txt.
function losses.print_elsewhere(text)
  print("\nOther machines, a few figures of whole calls:")
  for line in text:gmatch("[^\n]+") do
    local machine, target, word, m, k, n, better, ratio, other =
      line:match("^([^#;][^;]*); (%w+) (%w+) (%d+)x(%d+) n(%d+): (%w+) (%S+) (%w+)$")
    if machine then
      local shape = { outputs = tonumber(m), inputs = tonumber(k), rows = tonumber(n) }
      local rule = shapes.rule(target, word, shape, false)
      local function signature(choice) return shapes.calls(target, word, shape, choice, false).signature end
      local now = signature(rule)
      print(("- %s, n %d: %s takes %s of the time of %s; the rule takes %s%s"):format(machine, shape.rows, better,
        ratio, other, shapes.name(rule), now == signature(choice_of(better)) and ", the faster one"
          or now == signature(choice_of(other)) and ", the slower one" or ", neither"))
    end
  end
end

return losses
