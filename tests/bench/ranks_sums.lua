-- ranks_sums.lua: times sums of ranks on this machine in shared memory, of other memory, by messages, and by
-- MPI_Allreduce (runtime/tools/meetings.c), and prints them as a table.
-- lua5.4 tests/bench/ranks_sums.lua [RANKS]
package.path = "gen/?.lua;" .. package.path
local cost = require("commands.scale.cost")
local meetings = require("commands.scale.meetings")

local WAYS = { { "sums", "windows, shared memory" }, { "sums_of_other_memory", "windows, other memory" },
  { "sums_by_messages", "messages" }, { "sums_by_mpi", "`MPI_Allreduce`" } }

local count = math.tointeger(tonumber(arg[1] or 2))
local measured = meetings.measure(".", count, { is_with_ways = true })
local head = {}
for i, each in ipairs(measured.sums) do head[i] = ("%d"):format(each[1]) end
print("| microseconds of a sum of " .. count .. " ranks; floats | " .. table.concat(head, " | ") .. " |")
print("|---|" .. ("---|"):rep(#head))
for _, way in ipairs(WAYS) do
  local row = {}
  for i, each in ipairs(measured[way[1]]) do row[i] = ("%.2f"):format(each[2]) end
  print(("| %s | %s |"):format(way[2], table.concat(row, " | ")))
end
print(("A message: %.2f us, %.2f GB/s; each further one at a time %.2f us. Additions: %.0f a microsecond."):format(
  cost.fitted(measured.messages), select(2, cost.fitted(measured.messages)), measured.message_us, measured.adds_per_us))
