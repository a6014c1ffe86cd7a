-- fit.lua: says what the rule of targets.lua loses on each machine whose products were measured (tables/): the time of
-- the rule's choice divided by that of the best candidate. Exits with 1 if a loss is above a bound.
--
--   lua5.4 tests/bench/products/fit.lua [-v] [TABLE ...]     -v: a line for each product
--
-- Open products: the parameters are the longest call's. A choice that was not measured counts as the candidate
-- that makes the same calls; without one, the product is listed as unknown. Not judged: lines of older strips
-- (shapes.is_older), and lines that their table calls in doubt. For each loss above the bound it prints the best that
-- a rule of the same inputs could do.
local script = arg[0]:match("^(.*)/tests/bench/[^/]*/[^/]*$") or "."
package.path = ("%s/gen/?.lua;%s/tests/bench/products/?.lua;"):format(script, script) .. package.path
local files = require("common.files")
local lfs = require("lfs")
local losses = require("losses")
local shapes = require("shapes")
local table_of = require("table_of")

local MOST_MEAN, MOST_ROW = 1.03, 1.10

local is_verbose, paths = false, {}
for _, word in ipairs(arg) do
  if word == "-v" then is_verbose = true else paths[#paths + 1] = word end
end
if #paths == 0 then
  local folder = script .. "/tests/bench/products/tables"
  for name in lfs.dir(folder) do if name:match("%.txt$") then paths[#paths + 1] = folder .. "/" .. name end end
  table.sort(paths)
end

-- Returns the lines of a table that are judged, and says which are not.
local function judged(measured)
  local list, older, doubtful = {}, 0, 0
  for _, line in ipairs(measured.lines) do
    if shapes.is_older(line, table_of.strips(measured, line)) then
      older = older + 1
    elseif measured.in_doubt[table_of.name(line)] then
      doubtful = doubtful + 1
    else
      list[#list + 1] = line
    end
  end
  if older > 0 then print(("%d products are of older strips: not judged"):format(older)) end
  if doubtful > 0 then print(("%d products are in doubt: not judged"):format(doubtful)) end
  return list
end

-- Prints the losses above the bound, and the least that any choice loses that the rule could make instead.
local function print_possible(all, worse)
  if #worse == 0 then return end
  print(("\nAbove %.2f, and the best of all choices for the lines that have the same inputs, and rows if they are "
    .. "known, on all machines:"):format(MOST_ROW))
  print("| line | the rule loses | best choice | its worst loss | lines |")
  print("|:--|--:|:--|--:|--:|")
  for _, each in ipairs(worse) do
    local best = losses.best_possible(all, each.line)
    print(("| %s | %.3f | %s | %.3f | %d |"):format(table_of.name(each.line), each.ratio, best.name or "", best.worst,
      best.count))
  end
end

local is_good, all, worse = true, {}, {}
for _, path in ipairs(paths) do
  local measured = table_of.read(path)
  print(("%s: %s, %s"):format(path:match("([^/]*)%.txt$"), measured.machine, measured.date))
  local lines = judged(measured)
  table.move(lines, 1, #lines, #all + 1, all)
  print("| target | type | rows | products | mean | worst | above 1.10 | unknown |")
  print("|:--|:--|:--|--:|--:|:--|--:|--:|")
  for _, group in ipairs(losses.groups(lines)) do
    local found = losses.of(group, MOST_ROW)
    is_good = is_good and found.mean <= MOST_MEAN and found.above == 0 and found.unknown == 0
    print(("| %s | %s | %s | %d | %.3f | %s | %d | %d |"):format(group.target, group.type, group.form, #group.lines,
      found.mean, found.worst and losses.text(found.worst) or "", found.above, found.unknown))
    for _, each in ipairs(is_verbose and found.list or {}) do print("  " .. losses.text(each)) end
    table.move(found.list, 1, found.above, #worse + 1, worse)
  end
end
print_possible(all, worse)
local from_notes = files.read(script .. "/tests/bench/products/elsewhere.txt")
if from_notes then losses.print_elsewhere(from_notes) end
os.exit(is_good and 0 or 1)
