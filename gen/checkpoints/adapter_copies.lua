-- adapter_copies.lua: finds tensors of an adapter that say what others say. PEFT saves the model's own weights of
-- tables of embeddings next to their factors, or without any, as they may have got rows for new tokens. With
-- ensure_weight_tying it saves the factors of a table once more for the layer that is tied to it.
local gguf = require("common.gguf")
local headers = require("common.headers")
local words = require("common.words")

local copies = {}

local BLOCK = 1 << 20 -- bytes that are converted at a time

-- Returns the text of a number of 16 bits as one of float32.
local of_half = {}
local function half_as_float(bytes)
  of_half[bytes] = of_half[bytes] or ("<f"):pack(gguf.of_half(("<I2"):unpack(bytes)))
  return of_half[bytes]
end

-- Functions of bytes that return them as float32, by type.
local as_floats = {
  F32 = function(bytes) return bytes end,
  F16 = function(bytes) return (bytes:gsub("..", half_as_float)) end,
  BF16 = function(bytes) return (bytes:gsub("..", "\0\0%0")) end,
}

--- The bytes of a number, by type.
copies.widths = { F32 = 4, F16 = 2, BF16 = 2 }
local widths = copies.widths

--- Returns the transpose of the bytes of a matrix, whose numbers have `width` bytes each.
function copies.transposed(data, rows, columns, width)
  local parts = {}
  for column = 0, columns - 1 do
    for row = 0, rows - 1 do
      local at = (row * columns + column) * width
      parts[#parts + 1] = data:sub(at + 1, at + width)
    end
  end
  return table.concat(parts)
end


-- True if two tensors in files have the same numbers, in types that may differ.
local function are_same(a, b)
  if words.shape(a.shape) ~= words.shape(b.shape) then return false end
  if a.dtype == b.dtype then return headers.are_equal(a, b) end
  if not (a.at and b.at and widths[a.dtype] and widths[b.dtype]) then return false end
  local one <close> = io.open(a.path, "rb")
  local other <close> = io.open(b.path, "rb")
  if not (one and other and one:seek("set", a.at) and other:seek("set", b.at)) then return false end
  local count = a.bytes // widths[a.dtype]
  for done = 0, count - 1, BLOCK do
    local some = math.min(BLOCK, count - done)
    local left, right = one:read(some * widths[a.dtype]), other:read(some * widths[b.dtype])
    if not left or not right or as_floats[a.dtype](left) ~= as_floats[b.dtype](right) then return false end
  end
  return true
end

--- True if a tensor of an adapter is the one that a weight is read from. from: the weight's (sources.lua); tensors: the
--- checkpoint's as headers.read returns them, or nil.
function copies.is_copy(saved, from, tensors)
  for _, name in ipairs(from.stored[1].names) do
    if tensors and tensors[name] then return #from.stored == 1 and are_same(saved, tensors[name]) end
  end
  return false
end

--- True if the factors of a linear layer are the transposes of the factors of a table of embeddings, and the sums have
--- no lengths, which would be of rows in one and of columns in the other. self: adapter.lua's, with `text`; layer,
--- table_: two of its changes.
function copies.are_tied(self, layer, table_)
  local function are_transposes(name, other)
    local a, b = self.tensors[name], self.tensors[other]
    local width = copies.widths[a.dtype]
    if not width or a.dtype ~= b.dtype or a.shape[1] ~= b.shape[2] or a.shape[2] ~= b.shape[1] then return false end
    local function data(tensor) return tensor.data or self.text:sub(tensor.at + 1, tensor.at + tensor.bytes) end
    return copies.transposed(data(a), a.shape[1], a.shape[2], width) == data(b)
  end
  return layer.inputs and table_.inputs and not layer.lengths and are_transposes(layer.inputs, table_.outputs)
    and are_transposes(layer.outputs, table_.inputs)
end

return copies
