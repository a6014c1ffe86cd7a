-- files.lua: reads and writes files and folders for the whole compiler.
-- A set of files is written under unique temporary names in the same folder, and renamed when all are complete. A file
-- that would not change is not touched.
local faults = require("common.faults")
local lfs = require("lfs")

local files = {}

--- Makes a folder and its missing parents. On a fault it removes those that it made.
function files.make_folder(path)
  local at, made = path:sub(1, 1) == "/" and "/" or "", {}
  for part in path:gmatch("[^/]+") do
    at = at .. part .. "/"
    if not lfs.attributes(at, "mode") then
      local ok, message = lfs.mkdir(at)
      if ok then
        made[#made + 1] = at
      elseif not lfs.attributes(at, "mode") then
        for i = #made, 1, -1 do lfs.rmdir(made[i]) end
        local is_file = lfs.attributes(at:sub(1, -2), "mode") == "file"
        faults.raise("io", "cannot make the folder %s: %s", at, is_file and "a file has that name" or message)
      end
    end
  end
end

--- Opens a regular file for reading. Returns a handle, or nil and the reason. Other files are refused, because opening
--- one, such as a named pipe, may wait for ever.
function files.open(path)
  local mode = lfs.attributes(path, "mode")
  if mode and mode ~= "file" then return nil, ("is a %s, and a regular file is expected"):format(mode) end
  local handle, message = io.open(path, "rb")
  return handle, message and message:gsub("^.*: ", "")
end

--- Returns the whole text of a regular file, or nil.
function files.read(path)
  local handle = files.open(path)
  if not handle then return nil end
  local text = handle:read("a")
  handle:close()
  return text
end

--- Returns the whole text of a regular file. Faults: io, with the reason. option: the command line's words before the
--- path, such as "--labels: ", or nil.
function files.read_asked(path, option)
  local handle, message = files.open(path)
  local text
  if handle then
    text, message = handle:read("a")
    handle:close()
  end
  if not text then faults.raise("io", "%s%s: cannot be read: %s", option or "", path, message) end
  return text
end

--- Returns the whole text of a regular file, or nil if there is no such file. Faults: io, if it cannot be read.
function files.read_if_there(path) return lfs.attributes(path, "mode") and files.read_asked(path) or nil end

--- Returns the sorted names in a folder. Faults: io, if it cannot be read.
function files.names(folder)
  local names = {}
  local ok, message = pcall(function()
    for name in lfs.dir(folder) do if name ~= "." and name ~= ".." then names[#names + 1] = name end end
  end)
  if not ok then faults.raise("io", "cannot read the folder %s: %s", folder, tostring(message):gsub("^.*: ", "")) end
  table.sort(names)
  return names
end

--- Returns at most `most` bytes of a regular file. Returns nil: there is none; nil, message: it cannot be read.
function files.read_some(path, most)
  if not lfs.attributes(path, "mode") then return nil end
  local handle, message = files.open(path)
  local text
  if handle then
    text, message = handle:read(most)
    if not text and not message then text = "" end
    handle:close()
  end
  if text then return text end
  return nil, (message:gsub("^.*: ", ""))
end

--- Returns libuv's message without the error's name and the path, as C libraries spell it.
function files.reason(message) return (message:gsub("^[A-Z0-9]+: ", ""):gsub(": .*$", ""):gsub("^%l", string.upper)) end
local reason = files.reason

-- Writes the whole text into a new file. Returns nil, or the reason why it failed.
local function write_new(path, text, mode)
  local uv = require("common.libuv")
  local fd, message = uv.fs_open(path, "wx", mode)
  if not fd then return reason(message) end
  local at = 1
  while at <= #text do
    local count, failure = uv.fs_write(fd, at == 1 and text or text:sub(at), -1)
    if not count then
      uv.fs_close(fd)
      return reason(failure)
    end
    at = at + count
  end
  local ok, failure = uv.fs_close(fd)
  return not ok and reason(failure) or nil
end

local PLAIN, PROGRAM = 438, 511 -- modes 0666 and 0777, before the umask

-- True if a file or a link already has the right contents or target.
local function is_current(path, file)
  if file.link then return lfs.symlinkattributes(path, "target") == file.link end
  if lfs.symlinkattributes(path, "mode") ~= "file" then return false end
  return files.read(path) == file.text
end

local count = 0

-- Returns a temporary name in the file's folder that no other process, and no earlier write of this process, uses.
local function temporary_name(folder, name)
  count = count + 1
  return ("%s/.%s.%d-%d-%08x.new"):format(folder, name, require("common.libuv").os_getpid(), count,
    math.random(0, 0xffffffff))
end

--- Writes a list of files into a folder, either all of them or, on a fault, none. A file is { name, text, is_program },
--- a symbolic link { name, link }.
function files.write_all(folder, list)
  files.make_folder(folder)
  local begun = {}
  local function give_up(path, message)
    for _, each in ipairs(begun) do os.remove(each.beside) end
    faults.raise("io", "cannot write %s: %s", path, message)
  end
  for _, file in ipairs(list) do
    local path = folder .. "/" .. file.name
    if not is_current(path, file) then
      local beside = temporary_name(folder, file.name)
      if lfs.attributes(path, "mode") == "directory" then give_up(path, "is a folder") end
      begun[#begun + 1] = { beside = beside, path = path }
      local failure
      if file.link then
        local ok, message = require("common.libuv").fs_symlink(file.link, beside)
        failure = not ok and reason(message)
      else
        failure = write_new(beside, file.text, file.is_program and PROGRAM or PLAIN)
      end
      if failure then give_up(path, failure) end
    end
  end
  for _, each in ipairs(begun) do
    local ok, message = os.rename(each.beside, each.path)
    if not ok then give_up(each.path, (message:gsub("^.*: ", ""))) end
  end
end

--- Keeps the files that a folder has under the names of such a list. Returns a function that restores them, and removes
--- those that did not exist.
function files.keep(folder, list)
  local kept = {}
  for _, file in ipairs(list) do
    local path = folder .. "/" .. file.name
    kept[#kept + 1] = { name = file.name, link = lfs.symlinkattributes(path, "target"), text = files.read(path) }
  end
  return function()
    local there = {}
    for _, file in ipairs(kept) do
      if file.link or file.text then there[#there + 1] = file else os.remove(folder .. "/" .. file.name) end
    end
    files.write_all(folder, there)
  end
end

--- Writes one file that the user has named. It is a new file or replaces a regular one, also through a symbolic link.
function files.write(path, text)
  local mode = lfs.symlinkattributes(path, "mode")
  if mode == "link" then
    local target, message = require("common.libuv").fs_realpath(path)
    if not target then faults.raise("io", "cannot write %s: %s", path, reason(message)) end
    path, mode = target, lfs.attributes(target, "mode")
  end
  if mode and mode ~= "file" then
    faults.raise("io", "cannot write %s: it is a %s, and a regular file is expected", path, mode)
  end
  local folder, name = path:match("^(.*)/([^/]*)$")
  if not folder then folder, name = ".", path end
  if name == "" then faults.raise("usage", path .. ": the name of a file is needed") end
  files.write_all(folder == "" and "/" or folder, { { name = name, text = text } })
end

--- Refuses a file that the user has named if its folder, or the nearest one that exists, takes no new file.
function files.check_place(path)
  local folder = path:match("^(.*)/[^/]*$") or "."
  while folder ~= "" and not lfs.attributes(folder, "mode") do folder = folder:match("^(.*)/[^/]*$") or "." end
  local beside = temporary_name(folder, "probe")
  local failure = write_new(beside, "", PLAIN)
  if failure then faults.raise("io", "cannot write %s: %s; -o FILE names another file", path, failure) end
  os.remove(beside)
end

--- Removes the temporary files of a killed writer. The caller must hold the folder's lock.
function files.sweep(folder)
  for _, name in ipairs(files.names(folder)) do
    if name:match("^%..*%.new$") then os.remove(folder .. "/" .. name) end
  end
end

--- Removes a folder with all its contents. Links are removed, not followed.
function files.remove_folder(folder)
  for _, name in ipairs(files.names(folder)) do
    local path = folder .. "/" .. name
    if lfs.symlinkattributes(path, "mode") == "directory" then files.remove_folder(path) else os.remove(path) end
  end
  lfs.rmdir(folder)
end

return files
