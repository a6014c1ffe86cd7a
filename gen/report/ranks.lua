-- ranks.lua: draws what `bench --scale` predicts: the time of each call on each number of ranks, in parts and meetings.
local bars = require("report.bars")
local numbers = require("report.numbers")
local terminal = require("common.terminal")

local ranks = {}

local MOST_ROWS = 96 -- predictions on one page
local NEEDED = { "ranks", "ms", "parts_ms", "meetings_ms", "memory_bytes" }

local function is_measure(value) return type(value) == "number" and value >= 0 and value < 1e30 end

-- Returns a row of a user's file, or nil if it is not one.
local function row_of(object)
  if type(object) ~= "table" or type(object.call) ~= "string" then return nil end
  local row = { call = terminal.short(object.call, 60) }
  for _, key in ipairs(NEEDED) do
    if not is_measure(object[key]) then return nil end
    row[key] = object[key]
  end
  row.tokens_per_s = is_measure(object.tokens_per_s) and object.tokens_per_s or nil
  return row
end

--- Returns the predictions of an object that a user's file has, or nil if it is not from bench --scale -o json.
function ranks.read(object)
  if type(object) ~= "table" or object.scale ~= 1 or type(object.predictions) ~= "table" then return nil end
  local result = { model = type(object.model) == "string" and terminal.short(object.model, 60) or "", rows = {} }
  for i, each in ipairs(object.predictions) do
    local row = row_of(each)
    if not row or i > MOST_ROWS then return nil end
    result.rows[i] = row
  end
  local network = type(object.network) == "table" and object.network or {}
  result.latency_us = is_measure(network.latency_us) and network.latency_us or nil
  result.gigabytes = is_measure(network.gigabytes) and network.gigabytes or nil
  return #result.rows > 0 and result or nil
end

-- Returns the calls in order, and the rows of each.
local function by_call(of)
  local calls, rows = {}, {}
  for _, row in ipairs(of.rows) do
    if not rows[row.call] then calls[#calls + 1], rows[row.call] = row.call, {} end
    table.insert(rows[row.call], row)
  end
  return calls, rows
end

--- Returns the calls in order, and a function (call, width) that draws one: a bar for each number of ranks.
function ranks.pictures(of)
  local calls, rows_of = by_call(of)
  return calls, function(call, width)
    local rows, most = {}, 0
    for i, each in ipairs(rows_of[call]) do
      rows[i] = { name = ("%d rank%s"):format(each.ranks, each.ranks == 1 and "" or "s"),
        parts = { parts = each.parts_ms, meetings = each.meetings_ms } }
      most = math.max(most, each.ms)
    end
    return bars.picture(rows, { parts = { { name = "parts", colour = 1 }, { name = "meetings", colour = 2 } },
      left = width > 500 and 130 or 92, unit = numbers.time_unit(most), text = numbers.time }, width)
  end
end

--- Returns the columns and rows of the table.
function ranks.table(of)
  local rows = {}
  for i, each in ipairs(of.rows) do
    rows[i] = { ("%d"):format(each.ranks), each.call, numbers.short(each.ms), numbers.short(each.parts_ms),
      numbers.short(each.meetings_ms), each.tokens_per_s and numbers.short(each.tokens_per_s) or "–",
      numbers.bytes(each.memory_bytes) }
  end
  return { { "ranks" }, { "call", words = true }, { "ms" }, { "parts, ms" }, { "meetings, ms" }, { "tokens/s" },
    { "memory of a rank" } }, rows
end

return ranks
