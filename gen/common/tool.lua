-- tool.lua: small programs of the runtime that the compiler runs. One is compiled for this machine when it is first
-- needed, and then kept in the store.
local files = require("common.files")
local hash = require("common.hash")
local lfs = require("lfs")
local process = require("common.process")
local scratch = require("common.scratch")
local store = require("common.store")

local tool = {}

local RUNTIME = (debug.getinfo(1, "S").source:match("^@(.*)/[^/]*/[^/]*$") or "..") .. "/../runtime"

-- Returns the hash of all that a tool depends on.
local function key_of(self, compiler)
  local about = lfs.attributes(compiler)
  local parts = { compiler, about.size, about.modification, table.unpack(self.libraries) }
  local function add(name) parts[#parts + 1] = name .. files.read(RUNTIME .. "/" .. name) end
  for _, name in ipairs(self.sources) do add(name) end
  for _, folder in ipairs(self.folders) do
    for _, name in ipairs(files.names(RUNTIME .. "/" .. folder)) do
      if name:find("%.h$") then add(folder .. "/" .. name) end
    end
  end
  for i, part in ipairs(parts) do parts[i] = tostring(part) end
  return hash.list(parts)
end

local function compile(self, compiler, folder)
  local command = { compiler, "-std=c11", "-O1", "-w", "-iquote", RUNTIME, "-o", folder .. "/" .. self.name }
  for _, name in ipairs(self.sources) do command[#command + 1] = RUNTIME .. "/" .. name end
  table.move(self.libraries, 1, #self.libraries, #command + 1, command)
  process.output(command, self.what .. " did not compile")
end

-- Returns the path of a tool's program and, without a store, the folder that it is in, which the caller closes.
local function find(self)
  if self.path then return self.path end
  local compiler, own = process.compiler(), store.of_user()
  if not own then
    local work = scratch.make(scratch.top(os.getenv), "attn2c")
    compile(self, compiler, work.path)
    return work.path .. "/" .. self.name, work
  end
  local key = key_of(self, compiler)
  local result = own:find(key, self.name)
  if not result then
    local work = own:begin()
    local _ <close> = setmetatable({}, { __close = function() own:drop(work) end })
    compile(self, compiler, work)
    result = own:keep(work, key, self.name)
  end
  self.path = result.path
  return self.path
end

--- Runs a tool with words. Returns what process.run returns, with all that it printed. self: { name, what = its name
--- in messages, sources and folders of headers in runtime/, libraries }. Faults: machine, if there is no compiler.
function tool.run(self, ...)
  local program, work = find(self)
  local _ <close> = work
  return process.run { words = { program, ... }, gather = "all" }
end

return tool
