-- early_process.lua: the process that early.lua starts: lua5.4 early_process.lua REQUEST.
-- REQUEST is a file with jobs for the runner. Their results are kept in the user's store. One processor is left to the
-- passes. It ends when the build does, even if that is killed.
local gen = arg[0]:match("^(.*)/commands/build/[^/]*$") or error("call it by its path, gen/commands/build/...")
dofile(gen .. "/common/compiled.lua").start(gen)
local dkjson = require("dkjson")
local faults = require("common.faults")
local files = require("common.files")
local process = require("common.process")
local runner = require("commands.build.runner")
local sources = require("commands.build.sources")
local store = require("common.store")
local toolchain = require("commands.build.toolchain")
local uv = require("common.libuv")

local request = dkjson.decode(files.read(assert(arg[1], "a file of jobs is needed")))
local runtime = sources.of_runtime(request.runtime)
process.hurry()

-- True if the build was killed: a process whose parent has ended gets another one.
local function is_left() return uv.os_getppid() ~= request.parent end

-- Stands for the progress bar, which is drawn regularly.
local watch = { hide = function() end, show = function() if is_left() then error("the build was killed", 0) end end }

local done, fault = pcall(runner.run, { store = assert(store.of_user()), toolchain = toolchain.new(),
  bar = watch, folders = { runtime = request.runtime },
  sources = { runtime = runtime.texts }, headers = function() return runtime.of_headers end,
  width = math.max(1, process.processors() - 1) }, request.jobs)
if is_left() then -- nobody reads what it says
  pcall(files.remove_folder, arg[1]:match("^(.*)/[^/]*$"))
elseif not done and not faults.is(fault) then
  io.stderr:write(tostring(fault), "\n")
end
os.exit(done, true)
