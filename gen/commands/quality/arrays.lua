-- arrays.lua: reads and writes .npy arrays as the programs do, and compares two of them.
local faults = require("common.faults")
local files = require("common.files")
local npy = require("common.npy")
local words = require("common.words")

local arrays = {}

local descriptions = { f32 = "<f4", i32 = "<i4" }
local formats = { ["<f4"] = "f", ["<i4"] = "i4", ["<i8"] = "i8", ["<f8"] = "d" }

-- Returns a random number of the normal distribution.
local function normal() return math.sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random()) end

--- Returns the name, or nil, and the path of a word of --input, which is NAME=FILE or FILE.
function arrays.given(word)
  local member, path = word:match("^([%a_][%w_]*)=(.*)$")
  return member, path or word
end

local integer_formats = { i = "i", u = "I", b = "I" }

-- Returns values in C order from values in Fortran order, with one or two axes.
local function transposed(values, rows, columns)
  local list = {}
  for i = 0, rows - 1 do
    for j = 0, columns - 1 do list[i * columns + j + 1] = values[j * rows + i + 1] end
  end
  return list
end

--- Returns the integers or booleans of a user's .npy file, { shape, values in C order, flat }, or nil and a message.
function arrays.integers(text)
  local array, wrong = npy.header(text)
  if not array then return nil, wrong end
  local shape, count = array.shape, array.count
  local order, kind, bytes = array.descr:match("^([<>|])([iub])([1248])$")
  if not order then return nil, ("has the type %s, but integers are expected"):format(faults.quote(array.descr)) end
  local is_fortran = #shape > 1 and array.is_fortran
  if is_fortran and #shape > 2 then return nil, "is in Fortran order, but C order is expected for three axes" end
  bytes = math.tointeger(tonumber(bytes))
  if #text - array.at + 1 ~= count * bytes then return nil, "is cut off, or has more than its shape says" end
  local format, values = (order == ">" and ">" or "<") .. integer_formats[kind] .. bytes, {}
  for i = 1, count do values[i] = format:unpack(text, array.at + (i - 1) * bytes) end
  return { shape = shape, values = is_fortran and count > 0 and transposed(values, shape[1], shape[2]) or values }
end

--- Returns the bytes of an array of random values: f32 from the normal distribution, i32 from minimum to limit - 1.
function arrays.random(shape, type, minimum, limit)
  local parts = {}
  for i = 1, words.elements(shape) do
    parts[i] = type == "f32" and ("<f"):pack(normal()) or ("<i4"):pack(math.random(minimum, limit - 1))
  end
  return npy.file(descriptions[type], shape, table.concat(parts))
end

local MOST_TOGETHER = 1024 -- numbers that are read by one call

--- Opens a file that an emitted program wrote. Returns { shape, count, integers, numbers = function(first, count) that
--- returns `count` numbers in order, from number `first` on, counted from 0 }. Faults: io, format.
function arrays.open(path)
  local bytes = files.read_asked(path)
  local array = npy.header(bytes)
  local format = array and not (array.is_fortran and #array.shape > 1) and formats[array.descr]
  local each = format and ("<" .. format):packsize()
  if not format or #bytes - array.at + 1 ~= array.count * each then
    faults.raise("format", path .. ": is not an array of numbers in C order")
  end
  return { shape = array.shape, count = math.tointeger(array.count), integers = format:find("i") ~= nil,
    numbers = function(first, count)
      local list = {}
      for i = 0, count - 1, MOST_TOGETHER do
        local n = math.min(MOST_TOGETHER, count - i)
        local part = { ("<" .. format:rep(n)):unpack(bytes, array.at + (first + i) * each) }
        part[n + 1] = nil -- string.unpack's last result, a position
        if n == count then return part end
        table.move(part, 1, n, i + 1, list)
      end
      return list
    end }
end

--- Returns a file with all of its values: { shape, values, integers }.
function arrays.read(path)
  local array = arrays.open(path)
  return { shape = array.shape, values = array.numbers(0, array.count), integers = array.integers }
end

-- Returns the text of a file whose first axis has `count` entries, which `take` makes of the bytes of all entries and
-- the number of bytes of one. Returns the text itself if its entries are not contiguous, or is_kept(their number).
local function with_entries(text, count, is_kept, take)
  local array = npy.header(text)
  local rows = array and array.shape[1]
  if not rows or array.is_fortran or is_kept(rows) then return text end
  local shape, bytes = words.append({}, array.shape), text:sub(array.at)
  shape[1] = count
  return npy.file(array.descr, shape, take(bytes, rows, #bytes // rows))
end

--- Returns the text of a file with the first `count` entries of the first axis. Returns the text itself if it has no
--- more, or if its entries are not contiguous.
function arrays.first(text, count)
  return with_entries(text, count, function(rows) return rows <= count end,
    function(bytes, _, each) return bytes:sub(1, each * count) end)
end

--- Returns the text of a file with exactly `count` entries of the first axis. If there are fewer, they are repeated.
function arrays.exactly(text, count)
  return with_entries(text, count, function(rows) return rows == 0 end,
    function(bytes, rows, each) return bytes:rep((count + rows - 1) // rows):sub(1, each * count) end)
end

function arrays.shape(text)
  local array = npy.header(text)
  return array and array.shape
end

-- Returns the place of the largest value of a row, or nil for a row with NaN.
local function best(values, first, width)
  local place = first
  for i = first, first + width - 1 do
    if values[i] ~= values[i] then return nil end
    if values[i] > values[place] then place = i end
  end
  return place
end

-- True if a row has only zeros, as the rows after the tokens of a shorter text.
local function is_padding(values, first, width)
  for i = first, first + width - 1 do if values[i] ~= 0 then return false end end
  return true
end

-- True if the i-th number of an array, counted from 1, is in the parts to leave out. `out` may be nil (padding.parts).
local function is_out(out, i) return out ~= nil and out[(i - 1) // out.inner] ~= nil end

--- Compares b with a. A number that does not apply is nil. Numbers that are NaN in both or the same infinity are left
--- out, and so are rows with NaN or with only zeros in both, and the parts `out` (padding.parts).
---
---   cosine     of floats
---   relative   the L2 norm of the difference divided by that of a
---   largest    the largest difference of two floats
---   top        the fraction of rows with the largest number in the same place, or of equal integers
function arrays.compare(a, b, out)
  local x, y, count = a.values, b.values, #a.values
  assert(count == #b.values)
  local same = 0
  if a.integers then
    local compared = 0
    for i = 1, count do
      if not is_out(out, i) then
        compared = compared + 1
        if x[i] == y[i] then same = same + 1 end
      end
    end
    return { top = compared > 0 and same / compared or nil }
  end
  local xx, yy, xy, dd, largest = 0.0, 0.0, 0.0, 0.0, nil
  for i = 1, count do
    local p, q = x[i], y[i]
    if is_out(out, i) then p, q = 0.0, 0.0 end
    if p == p and q == q and math.abs(p) < math.huge and math.abs(q) < math.huge then
      xx, yy, xy, dd = xx + p * p, yy + q * q, xy + p * q, dd + (p - q) * (p - q)
      largest = math.max(largest or 0.0, math.abs(p - q))
    elseif p ~= q and (p == p or q == q) then -- only one of them is NaN or infinite
      largest = math.huge
    end
  end
  local width = a.shape[#a.shape] or 1
  local rows = 0
  for row = 0, width > 1 and count // width - 1 or -1 do
    local first = 1 + row * width
    local p, q = best(x, first, width), best(y, first, width)
    if (p or q) and not is_out(out, first) and not (is_padding(x, first, width) and is_padding(y, first, width)) then
      rows = rows + 1
      if p == q then same = same + 1 end
    end
  end
  local all_alike = largest and largest < math.huge -- without this, numbers computed from the rest would look good
  return { cosine = all_alike and xx > 0 and yy > 0 and xy / math.sqrt(xx * yy) or nil,
    relative = all_alike and xx > 0 and math.sqrt(dd / xx) or nil, largest = largest,
    top = rows > 0 and same / rows or nil }
end

--- Returns the fraction of rows whose largest number is at the label's place, or of integers that equal the label.
--- Returns nil if the number of rows is another one, and nil and a label that is not a place of a score. Rows whose
--- label is below 0 and the parts `out` (padding.parts) do not count. A row with NaN counts as wrong.
function arrays.accuracy(array, labels, out)
  local width = array.integers and 1 or array.shape[#array.shape] or 1
  if #array.values ~= width * #labels or (width == 1 and not array.integers) then return nil end
  local right, count = 0, 0
  for row, label in ipairs(labels) do
    if label >= width and not array.integers then return nil, label end
    local first = 1 + (row - 1) * width
    local place = array.integers and first + array.values[first] or best(array.values, first, width)
    local counts = label >= 0 and not is_out(out, first)
    if counts then count = count + 1 end
    if counts and place == first + label then right = right + 1 end
  end
  return count > 0 and right / count or nil
end

--- Returns the L2 norm of the difference of two files divided by that of the first. It is infinite if one of them has
--- NaN or infinity. out_of: a function of the files' shape that returns the parts to leave out (padding.parts).
function arrays.relative(path, other, out_of)
  local a, b, xx, dd = arrays.open(path), arrays.open(other), 0.0, 0.0
  local out = out_of and out_of(a.shape)
  assert(a.count == b.count)
  for first = 0, a.count - 1, MOST_TOGETHER do
    local count = math.min(MOST_TOGETHER, a.count - first)
    local x, y = a.numbers(first, count), b.numbers(first, count)
    for i = 1, count do
      local p, d = x[i], x[i] - y[i]
      if not is_out(out, first + i) then xx, dd = xx + p * p, dd + d * d end
    end
  end
  if dd ~= dd or dd == math.huge then return math.huge end
  return xx > 0 and math.sqrt(dd / xx) or dd > 0 and math.huge or 0
end

return arrays
