-- files.lua: the compiler's only hands on the disk. A set of files is written beside its
-- place first and renamed when all are whole, and a file that would not change is left alone.
local faults = require("faults")
local lfs = require("lfs")

local files = {}

--- A word of a shell command, quoted.
function files.shell(word) return "'" .. tostring(word):gsub("'", "'\\''") .. "'" end

--- Makes a folder and those above it.
function files.make_folder(path)
  local at = path:sub(1, 1) == "/" and "/" or ""
  for part in path:gmatch("[^/]+") do
    at = at .. part .. "/"
    if not lfs.attributes(at, "mode") then
      local ok, message = lfs.mkdir(at)
      if not ok and not lfs.attributes(at, "mode") then
        faults.raise("io", ("cannot make the folder %s: %s"):format(at, message))
      end
    end
  end
end

--- The whole text of a file, or nil.
function files.read(path)
  local handle = io.open(path, "rb")
  if not handle then return nil end
  local text = handle:read("a")
  handle:close()
  return text
end

--- At most so many bytes of a file; nil where there is none, nil and a message where it cannot be read.
function files.read_some(path, most)
  if not lfs.attributes(path, "mode") then return nil end
  local handle, message = io.open(path, "rb")
  local text
  if handle then
    text, message = handle:read(most)
    if not text and not message then text = "" end
    handle:close()
  end
  if text then return text end
  return nil, (message:gsub("^.*: ", ""))
end

local function write(path, text)
  local handle, message = io.open(path, "wb")
  if not handle then return message end
  local ok, failure = handle:write(text)
  local closed, at_close = handle:close()
  if not ok then return path .. ": " .. failure end
  if not closed then return path .. ": " .. at_close end
  return nil
end

--- Writes { { name, text } } into a folder: all of them, or, on a fault, none.
function files.write_all(folder, list)
  files.make_folder(folder)
  local begun = {}
  for _, file in ipairs(list) do
    local path = folder .. "/" .. file.name
    if files.read(path) ~= file.text then
      local beside = folder .. "/." .. file.name .. ".new"
      begun[#begun + 1] = { beside = beside, path = path }
      local in_the_way = lfs.attributes(path, "mode") == "directory"
      local failure = in_the_way and path .. ": is a folder" or write(beside, file.text)
      if failure then
        for _, each in ipairs(begun) do os.remove(each.beside) end
        faults.raise("io", "cannot write " .. failure)
      end
    end
  end
  for _, each in ipairs(begun) do
    local ok, message = os.rename(each.beside, each.path)
    if not ok then
      for _, other in ipairs(begun) do os.remove(other.beside) end
      faults.raise("io", ("cannot write %s: %s"):format(each.path, message))
    end
  end
end

return files
