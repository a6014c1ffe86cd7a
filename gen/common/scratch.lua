-- scratch.lua: folders for the work of one process, which are gone when it ends. Each is locked as long as its process
-- lives; what a killed one left is removed by the next that makes such a folder in the same place.
local faults = require("common.faults")
local files = require("common.files")
local lfs = require("lfs")
local uv = require("common.libuv")

local scratch = {}

local LOCK = "/.lock"
local RANDOM = "XXXXXX"       -- of a name, for mkdtemp
local BEGUN = 3600            -- seconds after which a folder that has no name yet is not being made any more

-- The locks that this process holds, by folder: to close another handle of such a file would release it.
local held = {}

-- The lock of a folder that no process has, held; nil of one that is in use, or is none of these folders.
local function take(path)
  if held[path] or lfs.symlinkattributes(path .. LOCK, "mode") ~= "file" then return nil end
  local handle = io.open(path .. LOCK, "a")
  if not handle then return nil end
  -- Another that sweeps may have removed it in between.
  if lfs.lock(handle, "w") and lfs.symlinkattributes(path .. LOCK, "mode") == "file" then return handle end
  handle:close()
  return nil
end

-- Removes the folders of killed processes. name: as scratch.make has it.
local function sweep(folder, name)
  local pattern = "^(%.?)" .. name:gsub("%W", "%%%0") .. "%-" .. ("%w"):rep(#RANDOM) .. "$"
  for each in lfs.dir(folder) do
    local path, hidden = folder .. "/" .. each, each:match(pattern)
    local about = hidden and lfs.symlinkattributes(path)
    if about and about.mode == "directory" then
      local handle <close> = hidden == "" and take(path) or nil
      if handle or hidden ~= "" and os.time() - about.modification > BEGUN then files.remove_folder(path) end
    end
  end
end

--- A new folder `name`-XXXXXX within a folder, of this process alone: { path }, for a variable <close>, which removes
--- it. Faults: io.
function scratch.make(folder, name)
  files.make_folder(folder)
  sweep(folder, name)
  -- Under its name it is locked from the beginning; until then its name begins with a dot.
  local begun, message = uv.fs_mkdtemp(("%s/.%s-%s"):format(folder, name, RANDOM))
  if not begun then
    faults.raise("io", ("cannot make a folder in %s: %s"):format(folder, files.reason(message)))
  end
  local path = folder .. "/" .. begun:match("([^/]*)$"):sub(2)
  local handle = io.open(begun .. LOCK, "w")
  local is_made = handle and lfs.lock(handle, "w") and lfs.symlinkattributes(path, "mode") == nil
    and os.rename(begun, path)
  if not is_made then
    if handle then handle:close() end
    files.remove_folder(begun)
    faults.raise("io", ("cannot make a folder in %s"):format(folder))
  end
  held[path] = handle
  return setmetatable({ path = path }, { __close = function()
    files.remove_folder(path)
    held[path] = nil
    handle:close()
  end })
end

return scratch
