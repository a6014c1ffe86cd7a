-- lock.lua: locks a folder, so that one process at a time works in it. The operating system locks its file .lock, and
-- releases the lock when the process that holds it ends, in whatever way.
local faults = require("common.faults")
local lfs = require("lfs")
local process = require("common.process")

local lock = {}

local AGAIN_MS = 50

local function fail(path, message)
  faults.raise("io", "cannot lock %s: %s", path, (tostring(message):gsub("^.*: ", "")))
end

--- Calls work() while the folder is locked, and returns its result. The folder must exist. If another process has the
--- lock, it says so once by `say(line)` and waits.
function lock.hold(folder, say, work)
  local path = folder .. "/.lock"
  local mode = lfs.symlinkattributes(path, "mode")
  if mode and mode ~= "file" then fail(path, "it is not a regular file") end
  local handle <close>, message = io.open(path, "a") -- closed, and unlocked, whatever work() raises
  if not handle then fail(path, message) end
  local said = false
  while true do
    local ok, why = lfs.lock(handle, "w")
    if ok then break end
    if not why:find("temporarily unavailable") and not why:find("Permission denied") then fail(path, why) end
    if not said then say(("another build is at work in %s: waiting for its end"):format(folder)) end
    said = true
    process.sleep(AGAIN_MS)
  end
  local results = table.pack(work())
  return table.unpack(results, 1, results.n)
end

return lock
