-- early_process.lua: the process that early.lua starts: lua5.4 early_process.lua REQUEST.
-- REQUEST is a file with jobs for the runner. Their results are kept in the user's store. One processor is left to the
-- passes.
local gen = arg[0]:match("^(.*)/commands/build/[^/]*$") or error("call it by its path, gen/commands/build/...")
package.path = gen .. "/?.lua;" .. package.path
local dkjson = require("dkjson")
local faults = require("common.faults")
local files = require("common.files")
local process = require("common.process")
local progress = require("common.progress")
local runner = require("commands.build.runner")
local sources = require("commands.build.sources")
local store = require("commands.build.store")
local toolchain = require("commands.build.toolchain")

local request = dkjson.decode(files.read(assert(arg[1], "a file of jobs is needed")))
local runtime = sources.of_runtime(request.runtime)
local done, fault = pcall(runner.run, { store = assert(store.of_user()), toolchain = toolchain.new(),
  bar = progress.start { terminal = false }, folders = { runtime = request.runtime },
  sources = { runtime = runtime.texts }, headers = function() return runtime.of_headers end,
  width = math.max(1, process.processors() - 1) }, request.jobs)
if not done and not faults.is(fault) then io.stderr:write(tostring(fault), "\n") end
os.exit(done, true)
