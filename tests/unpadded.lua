-- unpadded.lua: arrays of .npy files as a model of any length takes them: rows of sequences, one after the other,
-- without padding. Numbers of 4 bytes only.
local files = require("common.files")

local unpadded = {}

local BYTES = 4

--- Returns an array: { type = "f4" or "i4", shape, data }.
function unpadded.read(path)
  local text = assert(files.read(path), path)
  local at = 10 + string.unpack("<I2", text, 9)
  local header = text:sub(11, at)
  local shape = {}
  for size in header:match("'shape': (%b())"):gmatch("%d+") do shape[#shape + 1] = math.tointeger(tonumber(size)) end
  assert(header:find("'fortran_order': False", 1, true), path)
  return { type = assert(header:match("'<([fi]4)'"), path), shape = shape, data = text:sub(at + 1) }
end

--- Returns an array as the text of a file.
function unpadded.text(array)
  local header = ("{'descr': '<%s', 'fortran_order': False, 'shape': (%s,), }"):format(array.type,
    table.concat(array.shape, ", "))
  header = header .. (" "):rep((64 - (10 + #header + 1) % 64) % 64) .. "\n"
  return "\x93NUMPY\1\0" .. string.pack("<I2", #header) .. header .. array.data
end

--- Returns an array of integers.
function unpadded.integers(values)
  return { type = "i4", shape = { #values }, data = string.pack("<" .. ("i4"):rep(#values), table.unpack(values)) }
end

--- Returns the integers of an array.
function unpadded.list(array) return { string.unpack("<" .. ("i4"):rep(#array.data // BYTES), array.data) } end

-- Returns the bytes of one number a row of a shape, without its first `from` axes.
local function bytes_after(shape, from)
  local bytes = BYTES
  for axis = from + 1, #shape do bytes = bytes * shape[axis] end
  return bytes
end

--- Returns the data of one sequence of [sequences][rows]..., its first `rows` rows; rows nil: of [sequences]....
function unpadded.sequence(array, number, rows)
  local first = (number - 1) * bytes_after(array.shape, 1)
  return array.data:sub(first + 1, first + (rows and rows * bytes_after(array.shape, 2) or bytes_after(array.shape, 1)))
end

--- Returns [sequences]... in an order, which may have one more than once.
function unpadded.picked(array, order)
  local parts = {}
  for i, number in ipairs(order) do parts[i] = unpadded.sequence(array, number) end
  return { type = array.type, shape = { #order, table.unpack(array.shape, 2) }, data = table.concat(parts) }
end

--- Returns rows of sequences, [rows]..., from [sequences][rows].... order: numbers of sequences; lengths: their rows.
function unpadded.joined(array, order, lengths)
  local parts, rows = {}, 0
  for i, number in ipairs(order) do
    parts[i], rows = unpadded.sequence(array, number, lengths[number]), rows + lengths[number]
  end
  return { type = array.type, shape = { rows, table.unpack(array.shape, 3) }, data = table.concat(parts) }
end

--- Returns the data of each sequence of an output, [rows]... or [sequences]..., in the order of a call. is_rows: which
--- of the two it is.
function unpadded.split(array, order, lengths, is_rows)
  local each, list, first = bytes_after(array.shape, 1), {}, 0
  for i, number in ipairs(order) do
    local stop = first + (is_rows and lengths[number] or 1) * each
    list[i], first = array.data:sub(first + 1, stop), stop
  end
  assert(first == #array.data, "the output has other rows than the call")
  return list
end

--- Returns the largest difference of two pieces of data of floats, relative to values above one, and how many numbers
--- are compared; NaN in `expected` is not.
function unpadded.difference(expected, got)
  local largest, compared = 0, 0
  if #expected ~= #got then return math.huge, 0 end
  for at = 1, #expected, BYTES do
    local want, have = string.unpack("<f", expected, at), string.unpack("<f", got, at)
    if want == want then
      local apart = math.abs(want - have) / math.max(1, math.abs(want))
      largest = math.max(largest, apart == apart and apart or want == have and 0 or math.huge)
      compared = compared + 1
    end
  end
  return largest, compared
end

return unpadded
