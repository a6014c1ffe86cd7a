-- headers.lua: asks the runtime what a checkpoint contains, without its values. A program, runtime/tools/tensors.c, is
-- compiled for this machine when it is first needed, and then kept in the store. So a checkpoint that no model opens is
-- refused before a model is built, in the same words.
local faults = require("common.faults")
local files = require("common.files")
local hash = require("common.hash")
local json = require("common.json")
local lfs = require("lfs")
local process = require("common.process")
local scratch = require("common.scratch")
local store = require("common.store")
local words = require("common.words")

local headers = {}

local RUNTIME = (debug.getinfo(1, "S").source:match("^@(.*)/[^/]*/[^/]*$") or "..") .. "/../runtime"
local NAME = "tensors.reader"

-- Sources of the runtime that the program consists of, and the folders of their headers.
local SOURCES = { "tools/tensors.c", "base/attn2c.c", "base/checksum.c", "base/floats.c", "base/shape.c", "base/utf8.c",
  "formats/file.c", "formats/gguf.c", "formats/gguf_blocks.c", "formats/gguf_grids.c", "formats/json.c",
  "formats/pickle.c", "formats/safetensors.c", "formats/safetensors_index.c", "formats/tensors.c", "formats/torch.c",
  "reading/checkpoint.c", "reading/coded.c", "reading/kinds.c", "reading/mxfp4.c", "system/linux.c" }
local FOLDERS = { "base", "formats", "reading", "system" }

-- Returns the hash of all that the program depends on.
local function key_of(compiler)
  local about = lfs.attributes(compiler)
  local parts = { compiler, about.size, about.modification }
  local function add(name) parts[#parts + 1] = name .. files.read(RUNTIME .. "/" .. name) end
  for _, name in ipairs(SOURCES) do add(name) end
  for _, folder in ipairs(FOLDERS) do
    for _, name in ipairs(files.names(RUNTIME .. "/" .. folder)) do
      if name:find("%.h$") then add(folder .. "/" .. name) end
    end
  end
  for i, part in ipairs(parts) do parts[i] = tostring(part) end
  return hash.list(parts)
end

local function compile(compiler, folder)
  local command = { compiler, "-std=c11", "-O1", "-w", "-iquote", RUNTIME, "-o", folder .. "/" .. NAME }
  for _, name in ipairs(SOURCES) do command[#command + 1] = RUNTIME .. "/" .. name end
  table.move({ "-lm", "-lpthread" }, 1, 2, #command + 1, command)
  process.output(command, "the reader of checkpoints did not compile")
end

local program -- its path, once it is known

-- Returns the path of the program and, without a store, the folder that it is in, which the caller closes.
local function find()
  if program then return program end
  local compiler, own = process.compiler(), store.of_user()
  if not own then
    local work = scratch.make(scratch.top(os.getenv), "attn2c")
    compile(compiler, work.path)
    return work.path .. "/" .. NAME, work
  end
  local key = key_of(compiler)
  local result = own:find(key, NAME)
  if not result then
    local work = own:begin()
    local _ <close> = setmetatable({}, { __close = function() own:drop(work) end })
    compile(compiler, work)
    result = own:keep(work, key, NAME)
  end
  program = result.path
  return program
end

--- Returns { metadata, tensors } of a checkpoint, a file or folder, as runtime/tools/tensors.c prints them. coding: how
--- its quantised tensors are stored, or nil. Faults: format, io, memory, in one line; machine, if there is no compiler.
function headers.read(path, coding)
  local reader, work = find()
  local _ <close> = work
  local child = process.run { words = { reader, path, coding }, gather = "all" }
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
  return faults.raise("machine", "the reader of checkpoints ended with status %d", child.code)
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
