-- program.lua: builds the program of a description, as `check` does, without the libraries that `build` makes. With
-- --only=NAME it builds another result in place of the program. With --exposed the inner tensors of the model are
-- outputs, too, as in `quality` and `calibrate`.
--   lua5.4 tests/program.lua DESCRIPTION FOLDER [--only=NAME] [--exposed] [KEY=VALUE ...]
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
package.path = here .. "/../gen/?.lua;" .. package.path

local build = require("commands.build")
local faults = require("common.faults")
local pipeline = require("pipeline")

local root = here .. "/.."

local done, value = xpcall(function()
  local only, exposed, overrides = nil, nil, {}
  for i = 3, #arg do
    local name = arg[i]:match("^%-%-only=(.*)$")
    only, exposed = name or only, exposed or arg[i] == "--exposed" or nil
    if not name and arg[i] ~= "--exposed" then overrides[#overrides + 1] = arg[i] end
  end
  local state = pipeline.run(root, arg[1], overrides, nil, nil, nil, { exposed = exposed })
  build.make(state, arg[2], root, { only = only or state.spec.name })
end, function(value)
  return faults.is(value) and table.concat(value.lines, "\n") or debug.traceback(tostring(value), 2)
end)
if not done then
  io.stderr:write(value, "\n")
  os.exit(1)
end
