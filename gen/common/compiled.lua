-- compiled.lua: loads the compiler's own modules, and keeps them as bytecode, which Lua loads in a tenth of the time. A
-- file of the user's cache has those that commands have loaded, and the templates (common/template.lua). Bytecode is
-- used only if its source and Lua itself are what they were, and if its two copies agree, so that damage is found. The
-- file appears by one rename. If processes write it at once, the last one wins, and others add again later.
local lfs = require("lfs")

local compiled = {}

local PLACES = 16 -- files that a cache may have: one for each checkout, if the numbers of their folders differ
local ENTRY = "<s4s4s4" -- a module's source and bytecode, twice
local MOST_INDEX = 1 << 16 -- bytes

local gen, name_of_file, path_of_file, head
local places, made = {}, {} -- by the names of modules: the entries that the file has, and those that it lacks

--- Returns the user's cache: XDG_CACHE_HOME/attn2c or ~/.cache/attn2c, or nil if neither variable is set.
function compiled.location(environment)
  local caches, home = environment("XDG_CACHE_HOME"), environment("HOME")
  if caches and caches:sub(1, 1) == "/" then return caches .. "/attn2c" end
  if home and home:sub(1, 1) == "/" then return home .. "/.cache/attn2c" end
  return nil
end

-- Returns what bytecode depends on besides its source: the modules' place, which it contains, and the files of Lua.
local function identity()
  local parts = { gen }
  for line in io.lines("/proc/self/maps") do
    local path = line:match(" 00000000 .-(/.*lua5.*)$")
    local about = path and lfs.attributes(path)
    if about then parts[#parts + 1] = ("%s %d %d %d"):format(path, about.ino, about.size, about.modification) end
  end
  assert(#parts > 1)
  return table.concat(parts, "\n")
end

-- Reads where the entries are in the cache's file, if nobody else may write there. The file begins with `head` and an
-- index, which has the size of each entry and the module's name.
local function read_index()
  local folder = assert(compiled.location(os.getenv))
  name_of_file, head = ("modules-%d"):format(lfs.attributes(gen, "ino") % PLACES), identity()
  local about = lfs.symlinkattributes(folder)
  assert(about.mode == "directory" and about.permissions == "rwx------" and
    about.uid == lfs.attributes("/proc/self", "uid"))
  path_of_file = folder .. "/" .. name_of_file
  local handle <close> = assert(io.open(path_of_file, "rb"))
  local is_of, index, at = string.unpack("<s4s4", handle:read(MOST_INDEX))
  assert(is_of == head)
  for size, name in index:gmatch("(%d+) ([^\n]+)") do
    places[name] = { at = at - 1, size = tonumber(size) }
    at = at + size
  end
end

-- Returns the entry of a module, or nil. The file is not kept open, as children would inherit it. If it is another one
-- by now, the entry does not have this module's source.
local function entry_of(name)
  local at = places[name]
  local handle <close> = at and io.open(path_of_file, "rb")
  return handle and handle:seek("set", at.at) and handle:read(at.size)
end

--- Returns the function that a text is compiled to: from bytecode in the cache's entry `name`, else by compile().
function compiled.chunk(name, source, compile)
  local is_whole, same, code, copy = pcall(string.unpack, ENTRY, entry_of(name) or "")
  local chunk = is_whole and same == source and code == copy and load(code, name, "b")
  if chunk then return chunk end
  chunk = compile()
  code = string.dump(chunk)
  made[name] = string.pack(ENTRY, source, code, code)
  return chunk
end

-- Returns a module as a function.
local function find(name)
  local path = gen .. "/" .. name:gsub("%.", "/") .. ".lua"
  local handle <close>, reason = io.open(path, "rb")
  if not handle then
    if lfs.attributes(path, "mode") then error(reason, 0) end
    return nil
  end
  local source = assert(handle:read("a"))
  return compiled.chunk(name, source, function() return assert(load(source, "@" .. path, "t")) end), path
end

--- Lets `require` look for modules in a folder, given by its absolute path. In package.path, a name with ? or ; would
--- be another one.
function compiled.start(folder)
  gen = folder
  pcall(read_index)
  table.insert(package.searchers, 2, find)
end

--- Keeps what has been loaded, by write(name, text), whose errors have no effect.
function compiled.keep(write)
  if not head or not next(made) then return end
  pcall(function()
    local names, index, parts = {}, {}, {}
    for name in pairs(places) do made[name] = made[name] or entry_of(name) end
    for name in pairs(made) do names[#names + 1] = name end
    table.sort(names)
    for i, name in ipairs(names) do parts[i], index[i] = made[name], ("%d %s\n"):format(#made[name], name) end
    write(name_of_file, string.pack("<s4s4", head, table.concat(index)) .. table.concat(parts))
  end)
end

package.loaded["common.compiled"] = compiled
return compiled
