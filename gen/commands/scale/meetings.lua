-- meetings.lua: compiles runtime/tools/meetings.c, runs it with mpirun, and returns what it has measured.
local faults = require("common.faults")
local json = require("common.json")
local lfs = require("lfs")
local process = require("common.process")
local ranks = require("commands.ranks")
local scratch = require("common.scratch")
local toolchain = require("commands.build.toolchain")
local words = require("common.words")

local meetings = {}

local SECONDS = 0.15 -- that the rounds of a size take

-- Returns the sources of the program: its own, the ranks', and what these stand on. They are paths.
local function sources(root)
  local list, folder = {}, root .. "/runtime/ranks"
  for name in lfs.dir(folder) do
    if name:match("%.c$") then list[#list + 1] = folder .. "/" .. name end
  end
  table.sort(list)
  for _, name in ipairs { "tools/meetings.c", "base/attn2c.c", "base/utf8.c", "system/linux.c" } do
    list[#list + 1] = root .. "/runtime/" .. name
  end
  return list
end

--- Measures meetings of `count` ranks of this machine. Returns { sums, gathers, messages = { { floats, microseconds } }
--- in order of floats, message_us = of each further message at a time, adds_per_us }. options: { seconds = that each
--- size takes, is_with_ways = true: also sums_of_other_memory, sums_by_messages, sums_by_mpi }. Faults: io, machine.
function meetings.measure(root, count, options)
  options = options or {}
  local work <close> = scratch.make(scratch.top(os.getenv), "attn2c-meetings")
  local mpi, program = toolchain.new().mpi, work.path .. "/meetings"
  local list = { process.compiler(), "-std=c11", "-O2", "-iquote", root .. "/runtime", "-o", program }
  words.append(list, sources(root), mpi("--cflags"), mpi("--libs"))
  process.output(list, "the program that measures meetings did not compile")
  local line, environment = ranks.start(count, { program, tostring(options.seconds or SECONDS),
    options.is_with_ways and "ways" or nil })
  local value = json.decode(process.output(line, "meetings of ranks were not measured", environment))
  if type(value) ~= "table" or not value.adds_per_us then
    faults.raise("machine", "meetings of ranks were not measured: their program printed no times")
  end
  return value
end

return meetings
