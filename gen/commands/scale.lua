-- scale.lua: is `bench --scale`, which predicts the speed and memory of a model on other numbers of ranks.
-- The parts of ranks are timed on this machine without their meetings, which the programs count. The time of a meeting
-- is measured on this machine (scale/meetings.lua), or follows from a network's latency and bandwidth (scale/cost.lua).
local cost = require("commands.scale.cost")
local faults = require("common.faults")
local json = require("common.json")
local meetings = require("commands.scale.meetings")
local process = require("common.process")
local table_of = require("commands.scale.table")
local units = require("commands.scale.units")
local words = require("common.words")

local scale = {}

local MOST_RANKS = 64 -- of the key `ranks`

-- Returns the numbers of ranks of "1,2,4".
local function counts_of(text)
  local list, seen = {}, {}
  for each in (text .. ","):gmatch("([^,]*),") do
    local count = math.tointeger(tonumber(each:match("^%s*(%d+)%s*$")))
    if not count or count < 1 or count > MOST_RANKS or seen[count] then
      faults.raise("usage", "--scale: %s; different numbers from 1 to %d are allowed, such as 1,2,4",
        faults.quote(text), MOST_RANKS)
    end
    list[#list + 1], seen[count] = count, true
  end
  return list
end

local function options_of(arguments)
  local options = { counts = counts_of(arguments.scale), latency_us = units.microseconds(arguments.latency),
    gigabytes = units.gigabytes(arguments.bandwidth) }
  if (options.latency_us == nil) ~= (options.gigabytes == nil) then
    faults.raise("usage", "--latency and --bandwidth: a network has both")
  end
  if arguments.layers then
    options.layers = math.tointeger(tonumber(arguments.layers:match("^%d+$")))
    if not options.layers or options.layers < 1 then
      faults.raise("usage", "--layers: %s; a number from 1 is allowed", faults.quote(arguments.layers))
    end
  end
  for _, word in ipairs(arguments.overrides) do
    local key = word:match("^([^=]*)=")
    if key == "ranks" or key == "threads" or (key == "layers" and options.layers) then
      faults.raise("usage", "%s: does not go with --scale, which sets it", faults.quote(word))
    end
  end
  for _, option in ipairs { "compare", "profile", "bound" } do
    if arguments[option] then faults.raise("usage", "--%s: does not go with --scale", option) end
  end
  if arguments.output == "csv" then faults.raise("usage", "-o: csv does not go with --scale; md and json do") end
  return options
end

-- Returns the rows of a program's bench, by the name of their call, and the names in order.
local function rows_of(text, path)
  local of, names = {}, {}
  for line in text:gmatch("[^\n]+") do
    local row = json.decode(line)
    if type(row) ~= "table" or not row.ms_median then faults.raise("machine", "%s printed no times", path) end
    of[row.entry], names[#names + 1] = row, row.entry
  end
  return of, names
end

-- Returns a row of `all` layers from the rows of `half` and of `built` layers, between which its numbers grow.
-- half_row: nil if all layers were built.
local function extended(half_row, row, half, built, all)
  if not half_row then return row end
  local longer, times = setmetatable({}, { __index = row }), (all - built) / (built - half)
  longer.is_disturbed = row.ms_median <= half_row.ms_median
  for _, key in ipairs { "ms_median", "weight_bytes", "state_bytes" } do
    if row[key] then longer[key] = row[key] + (row[key] - half_row[key]) * times end
  end
  local before = {}
  for _, each in ipairs(half_row.meetings or {}) do before[each.kind .. each.floats] = each.times end
  longer.meetings = row.meetings and {}
  for i, each in ipairs(row.meetings or {}) do
    local more = each.times - (before[each.kind .. each.floats] or 0)
    longer.meetings[i] = words.merged(each, { times = math.floor(each.times + more * times + 0.5) })
  end
  return longer
end

-- The programs of one number of ranks: of some layers, and of half of these if they stand for all.
local Programs = {}
Programs.__index = Programs

local function programs_of(arguments, options, tools, count, layers)
  local self = setmetatable({ tools = tools, words = options.words, count = count, layers = layers }, Programs)
  self.half = options.layers and 2 * options.layers < layers and options.layers or nil
  self.built = self.half and 2 * self.half or layers
  local function build(more)
    local list = words.append({ "threads=1" }, arguments.overrides)
    if count > 1 then list[#list + 1] = "ranks=" .. count end
    list[#list + 1] = more
    return tools.build(list)
  end
  self.path, self.state = build(self.half and "layers=" .. self.built)
  if self.half then self.half_path = build("layers=" .. self.half) end
  return self
end

-- Returns what a program's bench prints. is_alone: without mpirun.
function Programs:bench(path, is_alone, ...)
  local list = words.append({ "bench", "-o", "json" }, self.words)
  for _, word in ipairs { ... } do list[#list + 1] = word end
  local text = self.tools.run(path, list, is_alone)
  return rows_of(text, path)
end

-- Returns the rows of the part of a rank, of all layers.
function Programs:part(rank)
  local part = rank and { "--part", tostring(rank) } or {}
  local built, names = self:bench(self.path, true, table.unpack(part))
  local half = self.half and self:bench(self.half_path, true, table.unpack(part))
  return words.map(names, function(name)
    return extended(half and half[name], built[name], self.half, self.built, self.layers)
  end)
end

-- Returns the rows of the slowest parts: ranks of one kind have equal parts, and one of them stands for all.
function Programs:slowest()
  if self.count == 1 then return self:part(nil) end
  local slowest
  for _, build in ipairs(self.state.builds) do
    local rows = self:part(build.members[1].rank)
    for i, row in ipairs(rows) do
      if slowest and slowest[i].ms_median > row.ms_median then row = slowest[i] end
      rows[i] = row
    end
    slowest = rows
  end
  return slowest
end

-- Returns the prediction of a call on ranks that a network links.
local function predicted(row, count, network)
  local time, bytes, number = cost.of_call(row.meetings or {}, count, network)
  local ms = row.ms_median + time / 1000
  return { ranks = count, call = row.entry, parts_ms = row.ms_median, meetings_ms = time / 1000, ms = ms,
    tokens_per_s = row.tokens and 1000 * row.tokens / ms, meetings = number, sent_bytes = bytes,
    memory_bytes = row.weight_bytes + row.arena_bytes + (row.state_bytes or 0), weight_bytes = row.weight_bytes,
    state_bytes = row.state_bytes or 0, arena_bytes = row.arena_bytes }
end

-- Adds the prediction and the measured run of ranks that share this machine, of the layers that were built.
local function add_here(list, programs, measured)
  local apart = programs:bench(programs.path, true, "--part", "0")
  local at_once, names = programs:bench(programs.path, false, "--part", "all")
  local run = programs:bench(programs.path, false)
  for _, name in ipairs(names) do
    local time = cost.here(at_once[name].meetings, measured)
    local ms = at_once[name].ms_min + time / 1000
    list[#list + 1] = { ranks = programs.count, call = name, layers = programs.built,
      apart_ms = apart[name].ms_min, at_once_ms = at_once[name].ms_min, meetings_ms = time / 1000, ms = ms,
      measured_ms = run[name].ms_min, ratio = ms / run[name].ms_min }
  end
end

-- Returns the network: the given one, or what messages between two ranks of this machine take.
local function network_of(options, measured)
  local latency, gigabytes = cost.fitted(measured.messages)
  return { latency_us = options.latency_us or latency, gigabytes = options.gigabytes or gigabytes,
    is_given = options.latency_us ~= nil, message_us = measured.message_us, adds_per_us = measured.adds_per_us }
end

--- Predicts. Returns the text to print. tools: { look() -> the state of the description; build(overrides) -> the
--- program's path and its state; run(path, words, is_alone) -> its output }.
function scale.run(root, arguments, tools)
  local options = options_of(arguments)
  options.words = tools.words
  local spec = tools.look().spec
  if (spec.ranks or 1) > 1 then
    faults.raise("usage", "%s: has ranks = %d; --scale sets it", arguments.description, spec.ranks)
  end
  if (spec.stages or 1) > 1 then
    faults.raise("usage", "%s: --scale does not go with stages", arguments.description)
  end
  if options.layers and options.layers > spec.layers then
    faults.raise("usage", "--layers: %d; 1 to %d, the model's layers, are allowed", options.layers, spec.layers)
  end
  if options.layers and spec.each then
    faults.raise("usage", "--layers: the model's layers differ, so that some do not stand for all")
  end
  local result = { model = spec.name, layers = spec.layers, predictions = {}, here = {}, measured = {} }
  for _, count in ipairs(options.counts) do
    if count > 1 and count <= process.processors() then result.measured[count] = meetings.measure(root, count) end
  end
  local _, pair = next(result.measured)
  result.network = network_of(options, pair or meetings.measure(root, 2))
  for _, count in ipairs(options.counts) do
    local programs = programs_of(arguments, options, tools, count, spec.layers)
    for _, row in ipairs(programs:slowest()) do
      table.insert(result.predictions, predicted(row, count, result.network))
      result.target, result.precision = row.target, row.precision
      result.is_disturbed = result.is_disturbed or row.is_disturbed
    end
    table.insert(result, { ranks = count, layers = programs.built })
    if result.measured[count] then add_here(result.here, programs, result.measured[count]) end
  end
  return table_of[arguments.output or "md"](result)
end

return scale
