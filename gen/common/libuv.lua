-- libuv.lua: loads libuv, the library of processes, clocks and files, safely if standard streams are closed, and where
-- open files or their sizes are limited.
-- Its loop takes the lowest free descriptors, and ends the process if one of them belongs to a standard stream. So
-- closed standard streams are opened first, for reading only, so that writing to them still fails.
local lfs = require("lfs")

local LEAST = 12 -- descriptors of the loop, of a child, and of files that are open meanwhile

local held = {}
for fd = 0, 2 do
  if not lfs.symlinkattributes("/proc/self/fd/" .. fd, "mode") then held[#held + 1] = io.open("/dev/null", "r") end
end

-- A loop that gets no descriptors ends the process by a signal.
local probes = {}
for i = 1, LEAST do
  local message
  probes[i], message = io.open("/dev/null", "r")
  if not probes[i] then error(message, 0) end
end
for _, probe in ipairs(probes) do probe:close() end

local uv = require("luv")

-- Writing beyond the limit of a file's size ends the process by a signal, unless the signal is handled: it then fails.
local beyond = uv.new_signal()
beyond:start("sigxfsz", function() end)
beyond:unref()
local at_end = setmetatable({}, { __gc = function() -- before the Lua state, and libuv's loop with it, is closed
  beyond:close()
  uv.run("nowait")
end })

return setmetatable({ held_streams = held, at_end = at_end }, { __index = uv })
