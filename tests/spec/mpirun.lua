-- mpirun.lua: runs a program as several ranks, for specs. There may be more of them than cores.
local helper = require("tests.spec.helper")

local SECONDS = 300 -- ranks that should end together take two or three where nothing else runs

-- Runs `count` ranks of a command, a list of words, with further options of mpirun. Returns its status and what it
-- wrote; `hangs` is true if it had not ended after SECONDS. Root is allowed, because containers often have no other
-- user. Without `-q` mpirun adds lines of its own.
return function(count, words, options)
  local list = { "env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "ASAN_OPTIONS=detect_leaks=0",
    "mpirun", "-q", "--oversubscribe", "-n", tostring(count) }
  for _, word in ipairs(options or {}) do list[#list + 1] = word end
  for _, word in ipairs(words) do list[#list + 1] = word end
  for i, word in ipairs(list) do list[i] = helper.shell(word) end
  local status, stderr, stdout = helper.script(table.concat(list, " "), helper.folder(), SECONDS)
  return { status = status, stdout = stdout, stderr = stderr, hangs = status == 124 }
end
