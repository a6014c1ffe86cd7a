-- gguf.lua: reads the metadata and the list of tensors of GGUF files, versions 2 and 3, and of all parts of a model.
-- It reads through a window of the file, and skips arrays: their values are read when they are asked for. So memory
-- stays small, whatever a stranger's file says. Each fault is one line that names the file and the place.
local faults = require("common.faults")
local gguf_types = require("common.gguf_types")
local kinds = require("common.kinds")
local lfs = require("lfs")

local gguf = {}

local WINDOW = 1 << 20 -- bytes that are read at a time
local LONGEST = { key = 65535, name = 63, text = 16 << 20, kept = 64 << 20 } -- bytes; kept: of all texts together
local MOST = { entries = 65536, tensors = 1 << 20, dimensions = 4, depth = 4, elements = 1 << 24 }
local USUAL_ALIGNMENT = 32
local LEAST = { entry = 14, tensor = 33 } -- bytes of the smallest entries

-- The types of metadata values: a name, and the format of string.unpack with its bytes, or none.
local values = { [0] = { "UINT8", "<I1", 1 }, { "INT8", "<i1", 1 }, { "UINT16", "<I2", 2 }, { "INT16", "<i2", 2 },
  { "UINT32", "<I4", 4 }, { "INT32", "<i4", 4 }, { "FLOAT32", "<f", 4 }, { "BOOL", "<I1", 1 }, { "STRING" },
  { "ARRAY" }, { "UINT64", "<i8", 8 }, { "INT64", "<i8", 8 }, { "FLOAT64", "<d", 8 } }
local FLOAT32, BOOL, STRING, ARRAY, UINT64 = 6, 7, 8, 9, 10

local Reader = {}
Reader.__index = Reader

local function shown(path) return (path:gsub("%c", "?")) end

function Reader:refuse(what, ...)
  self.handle:close()
  local where = self.where and self.where .. ": " or ""
  faults.raise("format", ("%s: %s%s"):format(shown(self.path), where, what:format(...)))
end

function Reader:left() return self.size - self.at end

-- Moves to after `bytes` bytes. Returns the offset of the first.
function Reader:skip(bytes)
  if bytes < 0 or bytes > self.size - self.at then
    self:refuse("the file ends at byte %d, but %u bytes are expected at byte %d: it was cut, or damaged", self.size,
      bytes, self.at)
  end
  local from = self.at
  self.at = from + bytes
  return from
end

-- Returns the position in self.text of the next `bytes` bytes, and moves after them.
function Reader:take(bytes)
  local from = self:skip(bytes)
  if from < self.begin or from + bytes > self.begin + #self.text then
    local wanted = math.min(math.max(bytes, WINDOW), self.size - from)
    self.handle:seek("set", from)
    local text, message = self.handle:read(wanted)
    if message then
      self.handle:close()
      faults.raise("io", ("%s: cannot be read: %s"):format(shown(self.path), message))
    end
    self.text, self.begin = text or "", from
    if #self.text < bytes then self:refuse("ends at byte %d, but had %d bytes", from + #self.text, self.size) end
  end
  return from - self.begin + 1
end

-- Returns a number in a format of string.unpack.
function Reader:number(format, bytes)
  local at = self:take(bytes)
  return (string.unpack(format, self.text, at))
end

-- Returns a text of at most `most` bytes.
function Reader:string(most, what)
  local length = self:number("<i8", 8)
  if length < 0 or length > most then self:refuse("%s of %u bytes, but at most %d are allowed", what, length, most) end
  self.kept = self.kept + length
  if self.kept > LONGEST.kept then self:refuse("more than %d bytes of text are not supported", LONGEST.kept) end
  local at = self:take(length)
  return self.text:sub(at, at + length - 1)
end

-- Refuses a count of values that the rest of the file cannot hold.
function Reader:check_count(type, count)
  local least = type == STRING and 8 or type == ARRAY and 12 or values[type][3]
  if count < 0 or count > self:left() // least then
    self:refuse("%u values of type %s are beyond the %d bytes that follow", count, values[type][1], self:left())
  end
end

function Reader:check_type(type)
  if not values[type] then self:refuse("has a value of type %d, which is not a type of the format", type) end
end

-- Skips the values of an array.
function Reader:skip_values(type, count, depth)
  self:check_type(type)
  self:check_count(type, count)
  if values[type][3] then
    self:skip(count * values[type][3])
  elseif type == STRING then
    for _ = 1, count do self:skip(self:number("<i8", 8)) end
  else
    if depth == MOST.depth then self:refuse("has arrays within arrays, %d deep", MOST.depth) end
    for _ = 1, count do
      local inner = self:number("<I4", 4)
      self:skip_values(inner, self:number("<i8", 8), depth + 1)
    end
  end
end

-- Returns the shortest decimal number that is the same f32. Files have 1e-5 as the f32 that is nearest to it.
local function shortest(value)
  for digits = 1, 9 do
    local short = tonumber(("%." .. digits .. "g"):format(value))
    if short and string.unpack("<f", string.pack("<f", short)) == value then return short + 0.0 end
  end
  return value
end

-- Returns one value: a number, a boolean, a text, or { type =, count =, at = } for an array.
function Reader:value(type)
  self:check_type(type)
  if type == STRING then return self:string(LONGEST.text, "a text") end
  if type == ARRAY then
    local array = { type = self:number("<I4", 4), count = self:number("<i8", 8), at = self.at }
    self:skip_values(array.type, array.count, 1)
    array.type = values[array.type][1]
    return array
  end
  local value = self:number(values[type][2], values[type][3])
  if type == FLOAT32 then return shortest(value) end
  if type == BOOL and value > 1 then self:refuse("is %d, but a boolean is 0 or 1", value) end
  if type == UINT64 and value < 0 then self:refuse("%u is too large", value) end
  return type == BOOL and value == 1 or type ~= BOOL and value
end

local function read_metadata(reader, count)
  if count < 0 or count > MOST.entries or count > reader:left() // LEAST.entry then
    reader:refuse("%u metadata entries, but %d bytes follow and at most %d are supported", count, reader:left(),
      MOST.entries)
  end
  local metadata, types = {}, {}
  for i = 0, count - 1 do
    reader.where = ("metadata entry %d"):format(i)
    local key = reader:string(LONGEST.key, "a key")
    if key == "" or key:find("%z") then reader:refuse("its key is empty, or has a byte of zero") end
    reader.where = "metadata " .. faults.quote(key)
    if types[key] then reader:refuse("occurs twice") end
    local type = reader:number("<I4", 4)
    metadata[key] = reader:value(type)
    types[key] = values[type][1]
  end
  reader.where = nil
  return metadata, types
end

local function read_shape(reader)
  local rank, shape, elements = reader:number("<I4", 4), {}, 1
  if rank < 1 or rank > MOST.dimensions then
    reader:refuse("%d dimensions, but 1 to %d are allowed", rank, MOST.dimensions)
  end
  for d = 1, rank do
    local size = reader:number("<i8", 8)
    if size < 1 then reader:refuse("dimension %d is %u", d - 1, size) end
    table.insert(shape, 1, size)
    if elements > math.maxinteger // size then reader:refuse("its shape is too large") end
    elements = elements * size
  end
  return shape, elements
end

local function read_tensor(reader, number, alignment)
  reader.where = ("tensor %d"):format(number)
  local name = reader:string(LONGEST.name, "a name")
  if name == "" or name:find("%z") then reader:refuse("its name is empty, or has a byte of zero") end
  reader.where = faults.quote(name)
  local shape, elements = read_shape(reader)
  local id = reader:number("<I4", 4)
  local type = gguf_types.by_id[id]
  if not type then reader:refuse("type %d is not known; %s is expected", id, gguf_types.readable) end
  if shape[#shape] % type.elements ~= 0 then
    reader:refuse("rows of %d elements, but those of type %s are a multiple of %d", shape[#shape], type.name,
      type.elements)
  end
  local offset = reader:number("<i8", 8)
  if offset % alignment ~= 0 then
    reader:refuse("offset %u is not a multiple of the alignment, %d", offset, alignment)
  end
  if elements // type.elements > math.maxinteger // type.bytes then reader:refuse("its shape is too large") end
  local bytes = elements // type.elements * type.bytes
  return { name = name, dtype = type.name, shape = shape, begin = offset, bytes = bytes, is_gguf = true }
end

local function check_ranges(reader, list)
  local size, before = math.max(0, reader.size - reader.data), nil
  table.sort(list, function(a, b) return math.ult(a.begin, b.begin) end)
  for _, tensor in ipairs(list) do
    reader.where = faults.quote(tensor.name)
    if tensor.begin < 0 or tensor.begin > size or tensor.bytes > size - tensor.begin then
      reader:refuse("%d bytes at byte %u are beyond the file's %d bytes of data: it was cut, or damaged", tensor.bytes,
        tensor.begin, size)
    end
    if before and tensor.begin < before.begin + before.bytes then
      reader:refuse("its bytes from %d on overlap those of %s", tensor.begin, faults.quote(before.name))
    end
    before = tensor
  end
end

local function read_tensors(reader, count, alignment)
  if count < 0 or count > MOST.tensors or count > reader:left() // LEAST.tensor then
    reader:refuse("%u tensors, but %d bytes follow and at most %d are supported", count, reader:left(), MOST.tensors)
  end
  local list, by_name = {}, {}
  for i = 0, count - 1 do
    local tensor = read_tensor(reader, i, alignment)
    if by_name[tensor.name] then reader:refuse("occurs twice") end
    list[#list + 1], by_name[tensor.name] = tensor, tensor
  end
  reader.where = nil
  reader.data = (reader.at + alignment - 1) // alignment * alignment
  check_ranges(reader, list)
  for _, tensor in ipairs(list) do tensor.path, tensor.at = reader.path, reader.data + tensor.begin end
  return by_name
end

local function read_start(reader)
  local magic = reader.size >= 4 and reader:take(4)
  if not magic or reader.text:sub(magic, magic + 3) ~= "GGUF" then
    local said = kinds.said_of_file(reader.path, "gguf")
    reader:refuse("%s", said or "is not a GGUF file: it does not begin with GGUF")
  end
  local version = reader:number("<I4", 4)
  if version > 0 and version & 0xffff == 0 then
    reader:refuse("is a GGUF file in big-endian numbers, which is not supported")
  end
  if version ~= 2 and version ~= 3 then reader:refuse("version %d of GGUF is not supported; 2 and 3 are", version) end
end

-- Opens a file. Returns a reader at its first byte.
local function open(path)
  local mode = lfs.attributes(path, "mode")
  if mode ~= "file" then
    faults.raise("io", ("%s: %s"):format(shown(path), mode and "is not a regular file" or "is missing"))
  end
  local handle, message = io.open(path, "rb")
  if not handle then
    faults.raise("io", ("%s: cannot be opened: %s"):format(shown(path), message:gsub("^.*: ", "")))
  end
  return setmetatable({ path = path, handle = handle, size = lfs.attributes(path, "size"), at = 0, begin = 0,
    text = "", kept = 0 }, Reader)
end

local function alignment_of(reader, metadata, types)
  local alignment, type = metadata["general.alignment"], types["general.alignment"]
  if alignment == nil then return USUAL_ALIGNMENT end
  reader.where = 'metadata "general.alignment"'
  if type ~= "UINT32" then reader:refuse("has type %s, but UINT32 is expected", type) end
  if alignment < 1 or alignment & (alignment - 1) ~= 0 then
    reader:refuse("is %d, but a power of two is expected", alignment)
  end
  reader.where = nil
  return alignment
end

local function read_one(path)
  local reader = open(path)
  read_start(reader)
  local tensors, entries = reader:number("<i8", 8), reader:number("<i8", 8)
  local file = { path = path }
  file.metadata, file.types = read_metadata(reader, entries)
  file.tensors = read_tensors(reader, tensors, alignment_of(reader, file.metadata, file.types))
  reader.handle:close()
  return file
end

-- Returns a metadata number of a model's parts, or its default.
local function part_number(file, key, default)
  local value = file.metadata[key]
  if value == nil then return default end
  if math.type(value) == "integer" and value >= 0 then return value end
  return faults.raise("format", ("%s: metadata %s: an integer of at least 0 is expected"):format(shown(file.path),
    faults.quote(key)))
end

-- Adds the tensors of a model's other parts, whose names end in -00002-of-00003.gguf and so on.
local function add_parts(file)
  local count, path = part_number(file, "split.count", 1), shown(file.path)
  local number, expected = part_number(file, "split.no", 0), part_number(file, "split.tensors.count", -1)
  if number ~= 0 or count > 99999 then
    faults.raise("format", ("%s: is part %d of %d of a model: give the first part"):format(path, number + 1, count))
  end
  local front = file.path:match(("^(.*)%%-00001%%-of%%-%05d%%.gguf$"):format(count))
  if count > 1 and not front then
    faults.raise("format", ("%s: is part 1 of %d, but its name does not end in -00001-of-%05d.gguf"):format(path, count,
      count))
  end
  for i = 2, count do
    local part = read_one(("%s-%05d-of-%05d.gguf"):format(front, i, count))
    if part_number(part, "split.no", 0) ~= i - 1 or part_number(part, "split.count", 1) ~= count then
      faults.raise("format", ("%s: is not part %d of %d of %s"):format(shown(part.path), i, count, path))
    end
    for name, tensor in pairs(part.tensors) do
      if file.tensors[name] then
        faults.raise("format", ("%s: %s is in two of its parts"):format(path, faults.quote(name)))
      end
      file.tensors[name] = tensor
    end
  end
  local total = 0
  for _ in pairs(file.tensors) do total = total + 1 end
  if count > 1 and expected >= 0 and expected ~= total then
    faults.raise("format", ("%s: its parts have %d tensors, but %d are expected"):format(path, total, expected))
  end
end

--- True if a path is a GGUF file, by its first bytes or the end of its name.
function gguf.is(path)
  if lfs.attributes(path, "mode") ~= "file" then return false end
  if path:lower():find("%.gguf$") then return true end
  local handle = io.open(path, "rb")
  local start = handle and handle:read(4)
  if handle then handle:close() end
  return start == "GGUF"
end

--- Returns a file's { path, metadata, types, tensors }. metadata: key -> number, boolean, text, or an array, of which
--- gguf.array reads the values; types: key -> the type's name in the format; tensors: name -> { name, dtype, shape
--- (row-major), path, at, bytes, is_gguf = true }, of all parts. Faults: io, format.
function gguf.read(path)
  local file = read_one(path)
  add_parts(file)
  return file
end

--- Returns the values of a metadata array as a list; nil if the file has no such key. allowed: the names of its
--- elements' types; most: its greatest length, 2^24 if it is not given. Faults: format, if it is no such array.
function gguf.array(file, key, allowed, most)
  local array = file.metadata[key]
  if array == nil then return nil end
  local reader = open(file.path)
  reader.where = "metadata " .. faults.quote(key)
  local is_allowed = false
  for _, name in ipairs(allowed) do is_allowed = is_allowed or type(array) == "table" and array.type == name end
  if not is_allowed then
    reader:refuse("has type %s, but an array of %s is expected",
      type(array) == "table" and "array of " .. array.type or file.types[key], table.concat(allowed, " or "))
  end
  most = most or MOST.elements
  if array.count > most then
    reader:refuse("has %d values, but at most %d are supported", array.count, most)
  end
  reader.at = array.at
  local list, format, bytes = {}, nil, nil
  for _, each in pairs(values) do if each[1] == array.type then format, bytes = each[2], each[3] end end
  for i = 1, array.count do
    list[i] = format and reader:number(format, bytes) or reader:string(LONGEST.text, "a text")
  end
  reader.handle:close()
  return list
end

--- Returns the values of a small tensor of type F32 as a list. Faults: format.
function gguf.floats(file, name, most)
  local tensor = file.tensors[name]
  if tensor.dtype ~= "F32" or tensor.bytes > 4 * most then
    faults.raise("format", ("%s: %s: at most %d values of type F32 are expected"):format(shown(file.path),
      faults.quote(name), most))
  end
  local reader, list = open(tensor.path), {}
  reader.at = tensor.at
  for i = 1, tensor.bytes // 4 do list[i] = reader:number("<f", 4) end
  reader.handle:close()
  return list
end

return gguf
