-- ranks_race.lua: times a model on several ranks, or stages, and in one process, in turn, and prints the ratio of each
-- call: the time of one process divided by that of the ranks of the same round.
-- lua5.4 tests/bench/ranks_race.lua build DESC "KEY=VALUE ..." "KEY=VALUE ..."   builds both, in out/bench/race1 and 2
-- lua5.4 tests/bench/ranks_race.lua ROUNDS "KEY=VALUE ..." "KEY=VALUE ..." [WORDS OF BENCH ...]   times what was built
-- The two lists of keys are for one process, such as threads=2, and for the ranks, such as "threads=1 ranks=2".
package.path = "gen/?.lua;" .. package.path
local json = require("common.json")
local process = require("common.process")
local start = require("commands.ranks").start

local words = { table.unpack(arg) }
local first = table.remove(words, 1)
local description = first == "build" and table.remove(words, 1)
local keys = { table.remove(words, 1), table.remove(words, 1) }

local function run(list, environment)
  local child = process.run { words = list, gather = "all", environment = environment }
  assert(child.code == 0 and child.signal == 0, child.errors)
  return child.output
end

if description then
  for number, text in ipairs(keys) do
    local folder = "out/bench/race" .. number
    assert(os.execute("rm -rf " .. folder))
    local list = { "gen/attn2c", "build", description, "-o", folder }
    for word in text:gmatch("%S+") do list[#list + 1] = word end
    run(list)
  end
  return
end

-- Returns a program's path and its number of processes.
local function program(number)
  local path = io.popen(("ls out/bench/race%d/*.so"):format(number)):read("l"):gsub("lib([^/]*)%.so$", "%1")
  local function key(name) return math.tointeger(tonumber(keys[number]:match(name .. "=(%d+)") or 1)) end
  return path, key("ranks") * key("stages")
end

-- Returns the least milliseconds of a program's calls, by name, and the names.
local function times_of(path, count)
  local of, names = {}, {}
  local list, environment = start(count, { path, "bench", "-o", "json", table.unpack(words) })
  for line in run(list, environment):gmatch("[^\n]+") do
    local row = json.decode(line)
    of[row.entry], names[#names + 1] = row.ms_min, row.entry
  end
  return of, names
end

local function quantile(list, share)
  table.sort(list)
  local at = 1 + (#list - 1) * share
  local low = math.floor(at)
  return list[low] + ((list[low + 1] or list[low]) - list[low]) * (at - low)
end

local one, two = { program(1) }, { program(2) }
local rounds = math.tointeger(tonumber(first))
local names, all = nil, {}
for _ = 1, rounds do
  local alone, together
  alone, names = times_of(table.unpack(one))
  together = times_of(table.unpack(two))
  for _, name in ipairs(names) do
    all[name] = all[name] or { {}, {}, {} }
    for i, each in ipairs { alone[name], together[name], alone[name] / together[name] } do
      table.insert(all[name][i], each)
    end
  end
end
print(("| call | %s, ms | %s, ms | ratio, median (quartiles) of %d |"):format(keys[1], keys[2], rounds))
print("|---|---|---|---|")
for _, name in ipairs(names) do
  local of = all[name]
  print(("| %s | %.4g | %.4g | %.3f (%.3f to %.3f) |"):format(name, quantile(of[1], 0.5), quantile(of[2], 0.5),
    quantile(of[3], 0.5), quantile(of[3], 0.25), quantile(of[3], 0.75)))
end
