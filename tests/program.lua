-- program.lua: builds the program of a description alone, as `check` does, without the libraries of `build`; or, with
-- --only=NAME, another of its results:
--   lua5.4 tests/program.lua DESCRIPTION FOLDER [--only=NAME] [KEY=VALUE ...]
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
package.path = here .. "/../gen/?.lua;" .. package.path

local build = require("commands.build")
local faults = require("common.faults")
local pipeline = require("pipeline")

local root = here .. "/.."

local done, value = xpcall(function()
  local only = arg[3] and arg[3]:match("^%-%-only=(.*)$")
  local state = pipeline.run(root, arg[1], table.move(arg, only and 4 or 3, #arg, 1, {}))
  build.make(state, arg[2], root, { only = only or state.spec.name })
end, function(value)
  return faults.is(value) and table.concat(value.lines, "\n") or debug.traceback(tostring(value), 2)
end)
if not done then
  io.stderr:write(value, "\n")
  os.exit(1)
end
