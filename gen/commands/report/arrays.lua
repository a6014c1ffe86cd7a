-- arrays.lua: reads .npy files that the program wrote (version 1, C order, float32 or int32) as Lua tables.
local faults = require("common.faults")
local files = require("common.files")

local arrays = {}

local formats = { ["<f4"] = "<f", ["<i4"] = "<i4" }

--- Returns the numbers of a file as { shape, values }, flat. Faults: io if it is missing, format if it is of another
--- kind.
function arrays.read(path)
  local text = files.read_asked(path)
  local function refuse()
    faults.raise("format", ("%s: is not an array of float32 or int32 in C order"):format(path))
  end
  if text:sub(1, 6) ~= "\x93NUMPY" or text:byte(7) ~= 1 then refuse() end
  local length = string.unpack("<I2", text, 9)
  local header = text:sub(11, 10 + length)
  local format = formats[header:match("'descr': '([^']*)'") or ""]
  local dimensions = header:match("'shape': %(([%d, ]*)%)")
  if not format or not dimensions or header:find("'fortran_order': True", 1, true) then refuse() end
  local shape, count = {}, 1
  for size in dimensions:gmatch("%d+") do
    shape[#shape + 1] = math.tointeger(tonumber(size))
    count = count * shape[#shape]
  end
  if #text ~= 10 + length + 4 * count then refuse() end
  local values, at = {}, 11 + length
  for i = 1, count do
    values[i] = string.unpack(format, text, at)
    at = at + 4
  end
  return { shape = shape, values = values }
end

return arrays
