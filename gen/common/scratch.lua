-- scratch.lua: makes temporary folders for the work of one process, which it removes when it ends.
-- Each is locked as long as its process lives. The folder of a killed process is removed by the next process that makes
-- such a folder in the same place.
local faults = require("common.faults")
local files = require("common.files")
local lfs = require("lfs")
local uv = require("common.libuv")

local scratch = {}

local LOCK = "/.lock"
local RANDOM = "XXXXXX"       -- the part of a name that mkdtemp replaces
local BEGUN = 3600            -- seconds after which a folder without its final name counts as abandoned

-- The locks that this process holds, by folder. Closing another handle of such a file would release its lock.
local held = {}

-- Locks a folder that no process uses, and returns the lock's handle. Returns nil if the folder is in use, or is not a
-- folder of this kind.
local function take(path)
  if held[path] or lfs.symlinkattributes(path .. LOCK, "mode") ~= "file" then return nil end
  local handle = io.open(path .. LOCK, "r+") -- "a" would make it again in a folder that its process just keeps
  if not handle then return nil end
  -- Another process that sweeps may have removed it in between.
  if lfs.lock(handle, "w") and lfs.symlinkattributes(path .. LOCK, "mode") == "file" then return handle end
  handle:close()
  return nil
end

--- Gives a folder a name that begins with a dot, and returns its path. No process takes it up under this name, not even
--- a compiler that still writes into it; if it is not removed, a later process does that.
function scratch.hide(path)
  local hidden = path:gsub("[^/]*$", ".%0")
  os.rename(path, hidden)
  return hidden
end

-- Removes the folders of killed processes. name: that of scratch.make.
local function sweep(folder, name)
  local pattern = "^(%.?)" .. name:gsub("%W", "%%%0") .. "%-" .. ("%w"):rep(#RANDOM) .. "$"
  for each in lfs.dir(folder) do
    local path, hidden = folder .. "/" .. each, each:match(pattern)
    local about = hidden and lfs.symlinkattributes(path)
    if about and about.mode == "directory" then
      local handle <close> = hidden == "" and take(path) or nil
      if handle then
        files.remove_folder(scratch.hide(path))
      elseif hidden ~= "" and os.time() - about.modification > BEGUN then
        files.remove_folder(path)
      end
    end
  end
end

--- Returns the folder of temporary files: TMPDIR, or /tmp if that is not set. environment: os.getenv, or what replaces
--- it. Faults: io, if TMPDIR is no folder.
function scratch.top(environment)
  local folder = environment("TMPDIR") or ""
  if folder == "" then return "/tmp" end
  if lfs.attributes(folder, "mode") == "directory" then return folder end
  faults.raise("io", "TMPDIR is %s, which is not a folder", faults.quote(folder))
end

--- Makes a folder `name`-XXXXXX within a folder, which only this process uses. Returns { path }, for a variable
--- <close>, which removes it if it is still there. Faults: io.
function scratch.make(folder, name)
  files.make_folder(folder)
  sweep(folder, name)
  -- The name begins with a dot until the folder is locked. So under its final name it is always locked.
  local begun, message = uv.fs_mkdtemp(("%s/.%s-%s"):format(folder, name, RANDOM))
  if not begun then faults.raise("io", "cannot make a folder in %s: %s", folder, files.reason(message)) end
  local path = folder .. "/" .. begun:match("([^/]*)$"):sub(2)
  local handle = io.open(begun .. LOCK, "w")
  if handle then lfs.lock(handle, "w") end -- a file system without locks does not let others take it, either
  local is_made = handle and lfs.symlinkattributes(path, "mode") == nil and os.rename(begun, path)
  if not is_made then
    if handle then handle:close() end
    files.remove_folder(begun)
    faults.raise("io", "cannot make a folder in %s", folder)
  end
  held[path] = handle
  return setmetatable({ path = path }, { __close = function()
    local hidden = scratch.hide(path)
    if lfs.symlinkattributes(hidden, "mode") then files.remove_folder(hidden) end
    held[path] = nil
    handle:close()
  end })
end

return scratch
