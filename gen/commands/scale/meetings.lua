-- meetings.lua: compiles runtime/tools/meetings.c, runs it with mpirun, and returns what it has measured.
local faults = require("common.faults")
local json = require("common.json")
local process = require("common.process")
local ranks = require("commands.ranks")
local scratch = require("common.scratch")
local toolchain = require("commands.build.toolchain")

local meetings = {}

-- Sources of the runtime that the program consists of.
local SOURCES = { "tools/meetings.c", "base/attn2c.c", "base/utf8.c", "ranks/across.c", "ranks/add.c", "ranks/agree.c",
  "ranks/alone.c", "ranks/gather.c", "ranks/open.c", "ranks/sum.c", "ranks/waiting.c" }

local function run(list, environment, what)
  local child = process.run { words = list, gather = "all", environment = environment }
  if child.code ~= 0 or child.signal ~= 0 then
    faults.raise("machine", ("%s: %s"):format(what, child.errors:match("[^\n]+") or "no message"))
  end
  return child.output
end

--- Measures meetings of `count` ranks of this machine. Returns { sums, gathers, messages = { { floats, microseconds } }
--- in order of floats, message_us = of each further message at a time, adds_per_us }. Faults: io, machine.
function meetings.measure(root, count)
  local work <close> = scratch.make(os.getenv("TMPDIR") or "/tmp", "attn2c-meetings")
  local mpi, program = toolchain.new().mpi, work.path .. "/meetings"
  local list = { toolchain.own(), "-std=c11", "-O2", "-iquote", root .. "/runtime", "-o", program }
  for _, source in ipairs(SOURCES) do list[#list + 1] = root .. "/runtime/" .. source end
  for _, of in ipairs { mpi("--cflags"), mpi("--libs") } do table.move(of, 1, #of, #list + 1, list) end
  run(list, nil, "the program that measures meetings did not compile")
  local line, environment = ranks.start(count, { program })
  local value = json.decode(run(line, environment, "meetings of ranks were not measured"))
  if type(value) ~= "table" or not value.adds_per_us then
    faults.raise("machine", "meetings of ranks were not measured: their program printed no times")
  end
  return value
end

return meetings
