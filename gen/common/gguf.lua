-- gguf.lua: gives the metadata of GGUF files, and small lists of numbers and texts in them.
local faults = require("common.faults")
local files = require("common.files")
local headers = require("common.headers")
local json = require("common.json")
local kinds = require("common.kinds")
local lfs = require("lfs")
local words = require("common.words")

local gguf = {}

local MOST = 1 << 24 -- elements of an array

-- The formats of string.unpack.
local formats = { UINT8 = "<I1", INT8 = "<i1", UINT16 = "<I2", INT16 = "<i2", UINT32 = "<I4", INT32 = "<i4",
  FLOAT32 = "<f", STRING = "<s8", BOOL = "<I1", UINT64 = "<i8", INT64 = "<i8", FLOAT64 = "<d", F32 = "<f" }

local function refuse(path, what, ...) faults.raise("format", "%s: " .. what, (path:gsub("%c", "?")), ...) end

--- True if a path is a GGUF file, by its first bytes or the end of its name.
function gguf.is(path)
  if lfs.attributes(path, "mode") ~= "file" then return false end
  if path:lower():find("%.gguf$") then return true end
  local handle <close> = io.open(path, "rb")
  return handle ~= nil and handle:read(4) == "GGUF"
end

--- Returns a file's { path, metadata, types, tensors }. metadata: key -> number, boolean, text, or an array, of which
--- gguf.array reads the values; types: key -> the type's name in the format; tensors: as headers.read returns them, of
--- all parts. Faults: as headers.read.
function gguf.read(path)
  if files.read_some(path, 4) ~= "GGUF" then
    refuse(path, "%s", kinds.said_of_file(path, "gguf") or "is not a GGUF file: it does not begin with GGUF")
  end
  local read = headers.read(path)
  local file = { path = path, metadata = {}, types = {}, tensors = read.tensors }
  for key, entry in pairs(read.metadata) do
    file.types[key] = entry.count and "ARRAY" or entry.type
    local value = entry.value
    if value == json.null then value = 0 / 0 end -- JSON has no other numbers than finite ones
    if entry.count then value = entry end
    file.metadata[key] = value
  end
  return file
end

-- Returns `count` values at a place of a file as a list.
local function values_at(path, place, format, count)
  local handle <close> = io.open(path, "rb")
  local text = handle and handle:seek("set", place.at) and handle:read(place.bytes) or ""
  if #text < place.bytes then refuse(path, "cannot be read at byte %d", place.at) end
  local list, at = {}, 1
  for i = 1, count do list[i], at = string.unpack(format, text, at) end
  return list
end

--- Returns the values of a metadata array as a list; nil if the file has no such key. allowed: the names of its
--- elements' types; most: its greatest length, 2^24 if it is not given. Faults: format, if it is no such array.
function gguf.array(file, key, allowed, most)
  local array, is_allowed = file.metadata[key], false
  if array == nil then return nil end
  for _, name in ipairs(allowed) do is_allowed = is_allowed or type(array) == "table" and array.type == name end
  if not is_allowed then
    refuse(file.path, "metadata %s: has type %s, but an array of %s is expected", faults.quote(key),
      type(array) == "table" and "array of " .. array.type or file.types[key], table.concat(allowed, " or "))
  end
  most = most or MOST
  if array.count > most then
    refuse(file.path, "metadata %s: has %d values, but at most %d are supported", faults.quote(key), array.count, most)
  end
  return values_at(file.path, array, formats[array.type], array.count)
end

--- Returns the number of an f16's bits.
function gguf.of_half(bits)
  local power, rest = bits >> 10 & 31, bits & 1023
  local value = power == 31 and (rest == 0 and math.huge or 0 / 0) or power == 0 and rest * 2.0 ^ -24
    or (1024 + rest) * 2.0 ^ (power - 25)
  return bits >> 15 == 1 and -value or value
end

-- Functions of a number's bits, by the types of 16 bits.
local of_bits = { F16 = gguf.of_half, BF16 = function(bits) return (("<f"):unpack(("<I4"):pack(bits << 16))) end }

--- Returns the values of a small tensor of type F32, F16 or BF16 as a list. file: also a folder's contents. Faults:
--- format.
function gguf.floats(file, name, most)
  local tensor = file.tensors[name]
  local value_of = of_bits[tensor.dtype]
  local width = value_of and 2 or tensor.dtype == "F32" and 4
  if not width or tensor.bytes > width * most then
    refuse(file.path, "%s: at most %d values of type F32, F16 or BF16 are expected", faults.quote(name), most)
  end
  local list = values_at(tensor.path, tensor, width == 4 and formats.F32 or "<I2", tensor.bytes // width)
  return value_of and words.map(list, value_of) or list
end

--- Returns the values of the first of some small tensors that is there, each after any of some prefixes, or nil.
function gguf.first_floats(file, prefixes, names, most)
  for _, name in ipairs(names) do
    for _, prefix in ipairs(prefixes) do
      if file.tensors[prefix .. name] then return gguf.floats(file, prefix .. name, most) end
    end
  end
  return nil
end

return gguf
