-- scale_spec: predictions of bench --scale: times of meetings, units, options, tables, and the chart of the report.
local helper = require("tests.spec.helper")
local cost = require("commands.scale.cost")
local json = require("common.json")
local ranks = require("report.ranks")
local scale = require("commands.scale")
local units = require("commands.scale.units")

local network = { latency_us = 2, gigabytes = 10, message_us = 0.5, adds_per_us = 1000 }

describe("the time of meetings", function()
  it("is none on one rank", function()
    assert.same({ 0, 0, 0 }, { cost.of_call({ { kind = "sum", floats = 100, times = 3 } }, 1, network) })
  end)

  it("counts one message to each other rank for small sums and gathers, and two for large sums", function()
    local order = 2 + 0.09
    local time, bytes, number = cost.of_call({ { kind = "sum", floats = 1000, times = 3 } }, 2, network)
    assert.near(order + 3 * (2 + 0.4 + 1), time, 1e-9)
    assert.same({ 12000, 3 }, { bytes, number })
    time, bytes = cost.of_call({ { kind = "sum", floats = 40000, times = 1 } }, 4, network)
    assert.near(2 * order + 2 * (2 + 2 * 0.5 + 12) + 30, time, 1e-9)
    assert.equal(2 * 120000, bytes)
    time, bytes = cost.of_call({ { kind = "gather", floats = 40000, times = 1 } }, 4, network)
    assert.near(2 * order + 2 + 2 * 0.5 + 12, time, 1e-9)
    assert.equal(120000, bytes)
  end)

  it("lies on the line between measured ones, and beyond the last", function()
    local points = { { 16, 1 }, { 512, 2 }, { 1024, 4 } }
    assert.same({ 1, 2, 3, 6 }, { cost.between(points, 1), cost.between(points, 512), cost.between(points, 768),
      cost.between(points, 1536) })
    assert.near(2 * 3 + 1, cost.here({ { kind = "sum", floats = 768, times = 2 }, { kind = "gather", floats = 8,
      times = 1 } }, { sums = points, gathers = points }), 1e-9)
  end)

  it("has the latency and bandwidth that measured messages have", function()
    local latency, gigabytes = cost.fitted { { 16, 2 }, { 4096, 3 }, { 250000, 102 } }
    assert.same({ 2, 10 }, { latency, gigabytes })
  end)
end)

describe("units", function()
  it("are read with their words", function()
    assert.near(0.5, units.microseconds("500ns"), 1e-12)
    assert.near(50, units.microseconds("0.05 ms"), 1e-12)
    assert.near(12.5, units.gigabytes("100Gbit/s"), 1e-12)
    assert.is_nil(units.gigabytes(nil))
  end)

  it("are refused without one, or with one of another kind", function()
    for _, text in ipairs { "2", "us", "-1us", "2GB/s", "1.2.3us", "" } do
      local fault = helper.fault(units.microseconds, text)
      assert.equal(2, fault.code)
      assert.matches("^%-%-latency: .*; a number with its unit is expected", fault.lines[1])
    end
  end)
end)

-- Returns a table as JSON.
local function text_of(value)
  if type(value) ~= "table" then return type(value) == "string" and ("%q"):format(value) or tostring(value) end
  local parts = {}
  for key, each in pairs(value) do
    parts[#parts + 1] = (#value > 0 and "" or ("%q: "):format(key)) .. text_of(each)
  end
  return #value > 0 and "[" .. table.concat(parts, ", ") .. "]" or "{" .. table.concat(parts, ", ") .. "}"
end

-- Returns what is printed for a model of 8 layers, whose programs are tables of times here, and the overrides that they
-- were built with. arguments: of the command.
local function printed(arguments)
  local function row(name, layers, count, more)
    local all = { entry = name, ms_median = 1 + layers / count, weight_bytes = 1e6 * layers / count,
      arena_bytes = 1e6, state_bytes = 1e5 * layers / count, tokens = 1, target = "avx2", precision = "f32" }
    for key, value in pairs(more or {}) do all[key] = value end
    return all
  end
  local tools = { words = {}, look = function() return { spec = { name = "m", layers = 8 } } end }
  local built = {}
  function tools.build(list)
    local text = table.concat(list, " ")
    built[#built + 1] = text
    local count, layers = tonumber(text:match("ranks=(%d+)") or 1), tonumber(text:match("layers=(%d+)") or 8)
    local state = { builds = { { members = { { rank = 0 } } }, { members = { { rank = 1 } } } } }
    return ("%d %d"):format(count, layers), state
  end
  function tools.run(path, list)
    local count, layers = path:match("(%d+) (%d+)")
    local is_second = table.concat(list, " "):find("--part 1", 1, true)
    local more = tonumber(count) > 1 and { ms_median = 1 + layers / count + (is_second and 1 or 0),
      meetings = { { kind = "sum", floats = 1000, times = 2 * tonumber(layers) + 1 } } }
    return text_of(row("decode", tonumber(layers), tonumber(count), more)) .. "\n"
  end
  arguments.overrides, arguments.description = arguments.overrides or {}, "m.lua"
  return scale.run(".", arguments, tools), built
end

describe("bench --scale", function()
  local process, meetings = require("common.process"), require("commands.scale.meetings")
  local processors, measure = process.processors, meetings.measure
  setup(function()
    process.processors = function() return 1 end
    meetings.measure = function()
      return { messages = { { 16, 1 }, { 25000, 11 } }, message_us = 0.1, adds_per_us = 1000 }
    end
  end)
  teardown(function() process.processors, meetings.measure = processors, measure end)

  it("adds meetings to the slowest part", function()
    local result = json.decode(printed { scale = "1,2", output = "json", latency = "2us", bandwidth = "10GB/s" })
    local one, two = table.unpack(result.predictions)
    assert.same({ 1, 9, 0, 0 }, { one.ranks, one.ms, one.meetings, one.meetings_ms })
    assert.same({ 2, 6, 17 }, { two.ranks, two.parts_ms, two.meetings })
    assert.near((2.09 + 17 * (2 + 0.4 + 1)) / 1000, two.meetings_ms, 1e-6)
    assert.near(two.parts_ms + two.meetings_ms, two.ms, 1e-4)
    assert.equal(4e6 + 1e6 + 4e5, two.memory_bytes)
    assert.near(1000 / two.ms, two.tokens_per_s, 1e-2)
  end)

  it("gives each rank one worker, whatever overrides there are", function()
    local _, built = printed { scale = "1,2", overrides = { "seq=4", "batch=2" } }
    assert.same({ "threads=1 seq=4 batch=2", "threads=1 seq=4 batch=2 ranks=2" }, built)
  end)

  it("lets some layers stand for all", function()
    local result = json.decode(printed { scale = "1,2,4", layers = "1", output = "json" })
    assert.same({ { 1, 2 }, { 2, 2 }, { 4, 2 } }, { { result.timed[1].ranks, result.timed[1].layers },
      { result.timed[2].ranks, result.timed[2].layers }, { result.timed[3].ranks, result.timed[3].layers } })
    local full = json.decode(printed { scale = "1,2,4", output = "json" })
    for i, each in ipairs(result.predictions) do
      assert.near(full.predictions[i].ms, each.ms, 1e-4)
      assert.equal(full.predictions[i].meetings, each.meetings)
      assert.equal(full.predictions[i].memory_bytes, each.memory_bytes)
    end
    assert.equal(1, full.network.latency_us)
    assert.near(10, full.network.gigabytes, 1e-2)
  end)

  it("prints a table that says what is predicted", function()
    local text = printed { scale = "1,2", layers = "1" }
    assert.matches("^Predicted: m for avx2, one core a rank", text)
    assert.matches("1 rank: 2 of 8 equal layers, and half of them, were timed", text, 1, true)
    assert.matches("\n| 2 | decode | 6.0%d* | 6 |", text)
  end)

  it("refuses what it sets itself, and bad words", function()
    local function line(arguments)
      local fault = helper.fault(printed, arguments)
      assert.equal(2, fault.code)
      return fault.lines[1]
    end
    assert.matches("^%-%-scale: .*different numbers from 1 to 64", line { scale = "1,,2" })
    assert.matches("^%-%-scale: ", line { scale = "2,2" })
    assert.matches("^%-%-latency and %-%-bandwidth: a network has both", line { scale = "1", latency = "1us" })
    assert.matches("^%-%-layers: ", line { scale = "1", layers = "0" })
    assert.equal("--layers: 9; 1 to 8, the model's layers, are allowed", line { scale = "1", layers = "9" })
    assert.matches("ranks=2.* does not go with %-%-scale", line { scale = "1", overrides = { "ranks=2" } })
    assert.matches("^%-%-profile: does not go", line { scale = "1", profile = true })
    assert.matches("^%-o: csv", line { scale = "1", output = "csv" })
  end)
end)

describe("the chart of predictions", function()
  local text = { scale = 1, model = "m", network = { latency_us = 2, gigabytes = 12 }, predictions = {
    { ranks = 1, call = "decode", ms = 4, parts_ms = 4, meetings_ms = 0, memory_bytes = 1e9, tokens_per_s = 250 },
    { ranks = 2, call = "decode", ms = 3, parts_ms = 2, meetings_ms = 1, memory_bytes = 5e8 } } }

  it("has a bar for each number of ranks", function()
    local of = ranks.read(text)
    local calls, draw = ranks.pictures(of)
    assert.same({ "decode" }, calls)
    local svg = draw("decode", 700):render("title")
    assert.truthy(svg:find("1 rank", 1, true) and svg:find("2 ranks", 1, true))
    local columns, rows = ranks.table(of)
    assert.equal(#columns, #rows[1])
    assert.equal("–", rows[2][6])
  end)

  it("is of files of bench --scale alone", function()
    assert.is_nil(ranks.read {})
    assert.is_nil(ranks.read { scale = 1, predictions = {} })
    assert.is_nil(ranks.read { scale = 1, predictions = { { ranks = 1, call = "x", ms = "fast" } } })
    assert.is_nil(ranks.read(nil))
  end)
end)
