-- sources.lua: reads the runtime's files, once for all builds of a command.
local files = require("common.files")
local hash = require("common.hash")
local lfs = require("lfs")

local sources = {}

-- Returns the runtime's files with this ending: a sorted list of their paths, and their texts by path.
local function files_of(folder, ending)
  local list, texts = {}, {}
  local function look(below)
    for name in lfs.dir(folder .. below) do
      local path = below .. "/" .. name
      if name:sub(1, 1) ~= "." and name:sub(-#ending) == ending then
        list[#list + 1] = path:sub(2)
      elseif not name:find(".", 1, true) and lfs.attributes(folder .. path, "mode") == "directory" then
        look(path)
      end
    end
  end
  look("")
  table.sort(list)
  for _, name in ipairs(list) do texts[name] = files.read(folder .. "/" .. name) end
  return list, texts
end

--- Returns a hash of a list of files, of their names and contents.
function sources.digest(list, texts)
  local parts = {}
  for i, name in ipairs(list) do parts[2 * i - 1], parts[2 * i] = name, texts[name] end
  return hash.list(parts)
end

local known = {} -- by folder: a command may build many variants

--- Returns the runtime in a folder: { names = its sources, texts = texts by name, of_headers = all headers' hash }.
function sources.of_runtime(folder)
  if not known[folder] then
    local headers, texts = files_of(folder, ".h")
    local pages, page_texts = files_of(folder, ".html") -- which sources include, too, as they do notices
    local notices, notice_texts = files_of(folder, ".txt")
    local runtime = { of_headers = sources.digest(headers, texts) .. sources.digest(pages, page_texts)
      .. sources.digest(notices, notice_texts) }
    runtime.names, runtime.texts = files_of(folder, ".c")
    known[folder] = runtime
  end
  return known[folder]
end

return sources
