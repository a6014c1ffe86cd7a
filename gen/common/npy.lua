-- npy.lua: reads and writes the headers of .npy files, as NumPy's format describes them.
local npy = {}

--- Returns what the text of a file says of its array, or nil and the reason: { descr = the type, such as "<f4", shape,
--- count = number of elements, is_fortran, at = place of the first byte of the values }.
function npy.header(text)
  if text:sub(1, 6) ~= "\x93NUMPY" then return nil, "is not a complete array" end
  local size_bytes = (text:byte(7) or 1) > 1 and 4 or 2
  if #text < 8 + size_bytes then return nil, "is cut off" end
  local size = ("<I" .. size_bytes):unpack(text, 9)
  local at = 9 + size_bytes + size
  local header = text:sub(9 + size_bytes, at - 1)
  local descr, dimensions = header:match("'descr': *'([^']*)'"), header:match("'shape': *%(([%d, ]*)%)")
  if #header < size or not descr or not dimensions then return nil, "is not a complete array" end
  local found = { descr = descr, shape = {}, at = at, is_fortran = header:find("'fortran_order': *True") ~= nil }
  found.count = 1.0 -- a float, which no product of sizes overflows
  for n in dimensions:gmatch("%d+") do
    found.shape[#found.shape + 1] = math.tointeger(tonumber(n)) or math.huge
    found.count = found.count * found.shape[#found.shape]
  end
  return found
end

--- Returns the text of a file with these values, as bytes in C order.
function npy.file(descr, shape, bytes)
  local header = ("{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }"):format(descr, table.concat(shape, ", "))
  header = header .. (" "):rep(-(#header + 11) % 64) .. "\n"
  return "\x93NUMPY\1\0" .. ("<I2"):pack(#header) .. header .. bytes
end

return npy
