-- adapter_copies.lua: finds tensors of an adapter that are the model's own. PEFT saves the weights of tables of
-- embeddings next to their factors, or without any, as they may have got rows for new tokens.
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
local widths = { F32 = 4, F16 = 2, BF16 = 2 }

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

return copies
