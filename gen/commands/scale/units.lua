-- units.lua: reads a latency and a bandwidth from words such as 2us and 12GB/s.
local faults = require("common.faults")

local units = {}

local of_time = { ns = 1e-3, us = 1, ["µs"] = 1, ms = 1e3, s = 1e6 }
local of_rate = { ["MB/s"] = 1e-3, ["GB/s"] = 1, ["Mbit/s"] = 1e-3 / 8, ["Gbit/s"] = 1 / 8 }

-- Returns a positive number in the unit whose factor is 1; nil for nil.
local function read(option, text, factors, example)
  if not text then return nil end
  local number, unit = text:match("^%s*([%d.]+)%s*(%S+)%s*$")
  local value, factor = tonumber(number), factors[unit or ""]
  if value and factor and value > 0 and value < 1e9 then return value * factor end
  return faults.raise("usage", "%s: %s; a number with its unit is expected, such as %s", option, faults.quote(text),
    example)
end

--- Returns the microseconds of a word. Faults: usage.
function units.microseconds(text) return read("--latency", text, of_time, "2us, 500ns or 0.05ms") end

--- Returns the GB/s of a word, 10^9 bytes each. Faults: usage.
function units.gigabytes(text) return read("--bandwidth", text, of_rate, "12GB/s or 100Gbit/s") end

return units
