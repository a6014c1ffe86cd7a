-- numbers.lua: writes numbers as people read them: three significant digits, units, thousands.
local words = require("common.words")

local numbers = {}

local function is_finite(x) return x == x and x ~= math.huge and x ~= -math.huge end

--- Returns a number with `digits` (default: 3) significant digits: 0.0123, 1.23, 123, 12,345. A very small number is
--- written as 1.2e-07.
function numbers.short(x, digits)
  digits = digits or 3
  if type(x) ~= "number" then return tostring(x) end
  if not is_finite(x) then return x ~= x and "NaN" or x > 0 and "infinite" or "-infinite" end
  if x == 0 then return "0" end
  local size = math.floor(math.log(math.abs(x), 10) + 1e-12)
  if size < -4 then return ("%.1e"):format(x) end
  if size >= digits - 1 then return words.thousands(math.tointeger(math.floor(x + 0.5)) or x) end
  return (("%%.%df"):format(digits - 1 - size):format(x))
end

--- Returns a number for an axis, with no more digits than it needs.
function numbers.tick(x)
  if math.abs(x) >= 1e3 then return numbers.whole(math.floor(x + 0.5)) end
  return ("%.4g"):format(x)
end

--- Returns an integer with commas.
function numbers.whole(x) return words.thousands(math.tointeger(x) or x) end

local function scaled(x, units, step)
  local i = 1
  while math.abs(x) >= step and units[i + 1] do x, i = x / step, i + 1 end
  return (i == 1 and numbers.whole(math.tointeger(x) or x) or numbers.short(x)) .. " " .. units[i]
end

--- Returns bytes as B, KB, MB, GB or TB (powers of 1,000, as in all other output).
function numbers.bytes(x) return scaled(x, { "B", "KB", "MB", "GB", "TB" }, 1000) end

--- Returns the unit for an axis of bytes up to `most`: { scale, title }.
function numbers.bytes_unit(most)
  if most < 1e6 then return { scale = 1e-3, title = "KB, packed" } end
  return { scale = 1e-6, title = "MB, packed" }
end

--- Returns a number of floating-point operations with its unit.
function numbers.flops(x) return scaled(x, { "flop", "kflop", "Mflop", "Gflop", "Tflop" }, 1000) end

--- Returns the unit for an axis of milliseconds up to `most`: { scale, title }.
function numbers.time_unit(most)
  if most < 1 then return { scale = 1000, title = "µs" } end
  return { scale = 1, title = "ms" }
end

--- Returns milliseconds as µs, ms or s.
function numbers.time(ms)
  if ms < 1 then return numbers.short(ms * 1000) .. " µs" end
  if ms < 10000 then return numbers.short(ms) .. " ms" end
  return numbers.short(ms / 1000) .. " s"
end

function numbers.percent(part)
  if part ~= 0 and math.abs(part) < 0.01 then return ("%.1f%%"):format(100 * part) end
  return ("%.0f%%"):format(100 * part)
end

return numbers
