-- libuv.lua: loads libuv, the library of processes, clocks and files, safely if standard streams are closed.
-- Its loop takes the lowest free descriptors, and ends the process if one of them belongs to a standard stream. So
-- closed standard streams are opened first, for reading only, so that writing to them still fails.
local lfs = require("lfs")

local held = {}
for fd = 0, 2 do
  if not lfs.symlinkattributes("/proc/self/fd/" .. fd, "mode") then held[#held + 1] = io.open("/dev/null", "r") end
end

local uv = require("luv")
return setmetatable({ held_streams = held }, { __index = uv })
