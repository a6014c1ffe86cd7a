-- sources.lua: reads the runtime's files, once for all builds of a command.
local files = require("common.files")
local hash = require("common.hash")
local lfs = require("lfs")
local words = require("common.words")

local sources = {}

-- Endings of files that sources include: headers, pages and notices.
local INCLUDED = { ".h", ".html", ".txt" }

-- Returns the runtime's files by their endings: sorted lists of their paths, each with texts = their texts by path.
local function files_of(folder)
  local lists = { [".c"] = { texts = {} } }
  for _, ending in ipairs(INCLUDED) do lists[ending] = { texts = {} } end
  local function look(below)
    for name in lfs.dir(folder .. below) do
      local path, list = below .. "/" .. name, lists[name:match("^[^.].*(%.[^.]+)$")]
      if list then
        list[#list + 1] = path:sub(2)
      elseif not name:find(".", 1, true) and lfs.attributes(folder .. path, "mode") == "directory" then
        look(path)
      end
    end
  end
  look("")
  for _, list in pairs(lists) do
    table.sort(list)
    for _, name in ipairs(list) do list.texts[name] = files.read(folder .. "/" .. name) end
  end
  return lists
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
    local lists = files_of(folder)
    local parts = words.map(INCLUDED, function(ending) return sources.digest(lists[ending], lists[ending].texts) end)
    known[folder] = { names = lists[".c"], texts = lists[".c"].texts, of_headers = table.concat(parts) }
  end
  return known[folder]
end

return sources
