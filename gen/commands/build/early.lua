-- early.lua: compiles the runtime's objects in another process while the passes still run.
-- That process (early_process.lua) keeps them in the user's store, where the build finds them: builds that run at once
-- share their work. It has little memory, so that it also starts compilers faster: each start copies the tables of all
-- memory. It may fail: what it has not made, the build makes itself, and says what is wrong.
local dkjson = require("dkjson")
local files = require("common.files")
local process = require("common.process")
local runner = require("commands.build.runner")
local terminal = require("common.terminal")
local uv = require("common.libuv")

local early = {}

local FEW = 4 -- objects that tell if the store lacks all: it is empty, or a header or the compiler is another one
local REQUEST = "jobs.json"
local SCRIPT = debug.getinfo(1, "S").source:match("^@(.*)%.lua$") .. "_process.lua"

--- Starts the process for objects of the runtime. context: as runner.run takes it, with the user's store. Returns what
--- `finish` takes; nil if the store has the first few objects.
function early.start(context, jobs)
  local is_missing = false
  for i = 1, math.min(FEW, #jobs) do is_missing = is_missing or not runner.has(context, jobs[i]) end
  if not is_missing then return nil end
  local program = uv.exepath() -- nil without /proc
  if not program then return nil end
  local work, child = context.store:begin(), nil
  local _ <close> = setmetatable({}, { __close = function() if not child then context.store:drop(work) end end })
  files.write_all(work, { { name = REQUEST, text = dkjson.encode { runtime = context.folders.runtime, jobs = jobs,
    parent = uv.os_getpid() } } })
  child = process.start { words = { program, SCRIPT, work .. "/" .. REQUEST }, gather = "all" }
  return child and { child = child, work = work, store = context.store }
end

--- Waits for the process, after the build, or ends it if that has a fault. If it has made all objects, prints the
--- compiler's warnings. write: replaces io.stderr:write in tests.
function early.finish(self, fault, write)
  local _ <close> = setmetatable({}, { __close = function() self.store:drop(self.work) end }) -- after a signal, too
  if fault then process.stop() end
  process.wait(function() return self.child.over end)
  write = write or function(text) io.stderr:write(text) end
  if self.child.code == 0 and not fault then write((self.child.errors:gsub("[^\n]+", terminal.safe))) end
end

return early
