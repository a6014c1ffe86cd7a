-- arrays.lua: arrays of numbers as the programs read and write them (.npy), and what tells two of them apart.
local files = require("common.files")

local arrays = {}

local descriptions = { f32 = "<f4", i32 = "<i4" }
local formats = { ["<f4"] = "f", ["<i4"] = "i4", ["<i8"] = "i8", ["<f8"] = "d" }

-- A number of the normal distribution.
local function normal() return math.sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random()) end

--- The bytes of an array of random values: f32 normal, i32 from minimum on, below limit.
function arrays.random(shape, type, minimum, limit)
  local count, parts = 1, {}
  for _, n in ipairs(shape) do count = count * n end
  for i = 1, count do
    parts[i] = type == "f32" and ("<f"):pack(normal()) or ("<i4"):pack(math.random(minimum, limit - 1))
  end
  local header = ("{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }"):format(descriptions[type],
    table.concat(shape, ", "))
  header = header .. (" "):rep(-(#header + 11) % 64) .. "\n"
  return "\x93NUMPY\1\0" .. ("<I2"):pack(#header) .. header .. table.concat(parts)
end

--- A file as { shape, values, integers }; it is one that an emitted program wrote.
function arrays.read(path)
  local bytes = assert(files.read(path), path)
  local size = ("<I2"):unpack(bytes, 9)
  local header, at = bytes:sub(11, 10 + size), 11 + size
  local format = assert(formats[header:match("'descr': '([^']+)'")], header)
  local shape, values = {}, {}
  for n in header:match("'shape': %(([^)]*)%)"):gmatch("%d+") do shape[#shape + 1] = math.tointeger(tonumber(n)) end
  format = "<" .. format
  local each = format:packsize()
  for i = 1, (#bytes - at + 1) // each do values[i] = format:unpack(bytes, at + (i - 1) * each) end
  return { shape = shape, values = values, integers = format:find("i") ~= nil }
end

-- The place of the largest of a row of values.
local function best(values, first, width)
  local place = first
  for i = first + 1, first + width - 1 do if values[i] > values[place] then place = i end end
  return place
end

--- How far b is from a: cosine, relative (the length of the difference by that of a) and largest of floats; top: the
--- part of the rows, or of integers, that have their largest number, or themselves, alike. What does not apply is nil.
function arrays.compare(a, b)
  local x, y, count = a.values, b.values, #a.values
  assert(count == #b.values)
  local same = 0
  if a.integers then
    for i = 1, count do if x[i] == y[i] then same = same + 1 end end
    return { top = count > 0 and same / count or nil }
  end
  local xx, yy, xy, dd, largest = 0.0, 0.0, 0.0, 0.0, 0.0
  for i = 1, count do
    local p, q = x[i], y[i]
    if p == p and q == q and math.abs(p) < math.huge and math.abs(q) < math.huge then
      xx, yy, xy, dd = xx + p * p, yy + q * q, xy + p * q, dd + (p - q) * (p - q)
      largest = math.max(largest, math.abs(p - q))
    elseif p ~= q and (p == p or q == q) then -- of one a NaN or an infinity alone
      largest = math.huge
    end
  end
  local width = a.shape[#a.shape] or 1
  local rows = width > 1 and count // width or 0
  for row = 0, rows - 1 do
    if best(x, 1 + row * width, width) == best(y, 1 + row * width, width) then same = same + 1 end
  end
  local all_alike = largest < math.huge -- what is left of others would look well
  return { cosine = all_alike and xx > 0 and yy > 0 and xy / math.sqrt(xx * yy) or nil,
    relative = all_alike and xx > 0 and math.sqrt(dd / xx) or nil, largest = largest,
    top = rows > 0 and same / rows or nil }
end

return arrays
