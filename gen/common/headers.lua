-- headers.lua: asks the runtime what a checkpoint contains, without its values. A tool, runtime/tools/tensors.c,
-- opens it, so that a checkpoint that no model opens is refused before a model is built, in the same words.
local faults = require("common.faults")
local json = require("common.json")
local tool = require("common.tool")
local words = require("common.words")

local headers = {}

-- The program: sources of the runtime, and the folders of their headers.
local reader = { name = "tensors.reader", what = "the reader of checkpoints",
  sources = { "tools/tensors.c", "base/attn2c.c", "base/checksum.c", "base/floats.c", "base/shape.c", "base/utf8.c",
    "formats/file.c", "formats/gguf.c", "formats/gguf_blocks.c", "formats/gguf_grids.c", "formats/json.c",
    "formats/pickle.c", "formats/safetensors.c", "formats/safetensors_index.c", "formats/tensors.c", "formats/torch.c",
    "reading/checkpoint.c", "reading/coded.c", "reading/kinds.c", "reading/mxfp4.c", "system/linux.c" },
  folders = { "base", "formats", "reading", "system" }, libraries = { "-lm", "-lpthread" } }

--- Returns { metadata, tensors } of a checkpoint, a file or folder, as runtime/tools/tensors.c prints them. coding: how
--- its quantised tensors are stored, or nil. Faults: format, io, memory, in one line; machine, if there is no compiler.
function headers.read(path, coding)
  local child = tool.run(reader, path, coding)
  if child.code == 0 and child.signal == 0 then
    local read, message = json.decode(child.output, json.null)
    return read or faults.raise("format", "%s: %s", path:gsub("%c", "?"), message)
  end
  for _, kind in ipairs { "format", "io", "memory" } do
    if child.code == faults.code[kind] and child.signal == 0 then
      local line = child.errors:match("[^\n]*")
      if line:sub(1, #path) ~= path then line = path .. ": " .. line end -- a tensor's name
      faults.raise(kind, (line:gsub("%c", "?")))
    end
  end
  return faults.raise("machine", "%s ended with status %d", reader.what, child.code)
end

local BLOCK = 1 << 20 -- bytes that are compared at a time

local equal = setmetatable({}, { __mode = "k" }) -- tensor -> another -> whether they are

local function compare(a, b)
  if not (a.at and b.at) or a.dtype ~= b.dtype or words.shape(a.shape) ~= words.shape(b.shape) then return false end
  if a.path == b.path and a.at == b.at then return true end
  local one <close> = io.open(a.path, "rb")
  local other <close> = io.open(b.path, "rb")
  if not (one and other and one:seek("set", a.at) and other:seek("set", b.at)) then return false end
  for done = 0, a.bytes - 1, BLOCK do
    local count = math.min(BLOCK, a.bytes - done)
    local block = one:read(count)
    if not block or block ~= other:read(count) then return false end
  end
  return true
end

--- True if two tensors that headers.read returned have equal types, shapes and bytes. Two coded tensors are not equal.
function headers.are_equal(a, b)
  equal[a] = equal[a] or setmetatable({}, { __mode = "k" })
  if equal[a][b] == nil then equal[a][b] = a == b or compare(a, b) end
  return equal[a][b]
end

return headers
