-- toolchain.lua: finds the compiler and flags that the environment names, and their identity.
-- Everything that may change a command's result is part of the identity, and so of the result's key.
local common_words = require("common.words")
local faults = require("common.faults")
local files = require("common.files")
local hash = require("common.hash")
local lfs = require("lfs")
local libuv = require("common.libuv")
local process = require("common.process")
local systems = require("data.systems")

local toolchain = {}

-- The environment variables that compilers read.
local VARIABLES = { "CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "LANG", "LC_ALL" }

-- Returns the absolute path at which exec finds a program. It is absolute because commands run in other folders.
local function found(word)
  if word:find("/") then return word:sub(1, 1) == "/" and word or lfs.currentdir() .. "/" .. word end
  return process.find(word) or word
end

local function output_of(words)
  local child = process.run { words = words, gather = "all" }
  return child.output .. child.errors
end

-- Returns name, size and time of each file that a library -lNAME may come from. A name :FILE is the file itself.
local function library_text(folders, name)
  local parts = {}
  local file = name:match("^:(.*)")
  for _, folder in ipairs(folders) do
    for _, each in ipairs(file and { file } or { "lib" .. name .. ".so", "lib" .. name .. ".a" }) do
      local about = lfs.attributes(folder .. "/" .. each)
      if about then parts[#parts + 1] = ("%s/%s %d %d"):format(folder, each, about.size, about.modification) end
    end
  end
  return table.concat(parts, "\n")
end

-- Returns the path of a library's file in the first folder that has it, because the compiler's linker may not look
-- there: musl-gcc's knows only musl's folder. If no folder has it, returns the shared library, which some systems have
-- alone, or a word that makes the linker look in its own folders.
local function library_file(folders, file)
  for _, name in ipairs { file, (file:gsub("%.a$", ".so")) } do
    for _, folder in ipairs(folders) do
      local path = folder .. "/" .. name
      if lfs.attributes(path, "mode") == "file" then return path end
    end
  end
  return "-l:" .. file
end

-- Returns a tool of binutils for the machine that a compiler makes code for: the first that exists with one of these
-- prefixes, else the one without prefix.
local function tool(name, prefixes)
  for _, prefix in ipairs(prefixes) do
    local path = found(prefix .. name)
    if lfs.attributes(path, "mode") == "file" then return path end
  end
  return name
end

-- The names by which pkg-config knows MPI in C: Debian's for the chosen one of several, and MPICH's own.
local MPI_NAMES = { "mpi-c", "mpich" }

-- Returns a function (option) that asks pkg-config for MPI's flags; it asks once for each option. given: the name that
-- ATTN2C_MPI gives, or nil.
local function asks_for_mpi(given)
  local known, names = {}, given and { given } or MPI_NAMES
  local function ask(option)
    local path = process.find("pkg-config")
    for _, name in ipairs(path and names or {}) do
      local child = process.run { words = { path, option, "--", name }, gather = "all" }
      if child.code == 0 then return common_words.list(child.output) end
    end
    if given then faults.raise("io", "ATTN2C_MPI: pkg-config knows no %s", faults.quote(given)) end
    return faults.raise("io", "ranks need MPI, but pkg-config knows no %s: install pkg-config, and libopenmpi-dev or "
      .. "libmpich-dev", table.concat(names, " and no "))
  end
  return function(option)
    known[option] = known[option] or ask(option)
    return known[option]
  end
end

--- Returns the toolchain that CC, ATTN2C_CFLAGS, ATTN2C_LDFLAGS, ATTN2C_MPI and CROSS, a compiler's prefix
--- (aarch64-linux-gnu-), name. environment: replaces os.getenv in tests. Faults: io, if there is no such compiler.
---
---   compiler, cflags, ldflags   lists of words
---   ar, objcopy                 words
---   machine                     the processor that code is made for, as in a triple
---   system                      the operating system, as data/systems.lua names it
---   is_gcc                      true for gcc
---   version                     a line
---   identity                    a text that changes with the compiler, its flags and the environment
---   libraries(name)             returns a text that changes with the files of -lNAME
---   library(FILE)               returns a word that links the file
---   mpi(OPTION)                 returns the words of pkg-config's OPTION for MPI in C. Faults: io, if it knows none
function toolchain.new(environment)
  environment = environment or os.getenv
  local function list_of(name) return common_words.list(environment(name) or "") end
  local self = { compiler = list_of("CC"), cflags = list_of("ATTN2C_CFLAGS"), ldflags = list_of("ATTN2C_LDFLAGS") }
  local prefix = environment("CROSS") or ""
  if #self.compiler == 0 then self.compiler = { prefix ~= "" and prefix .. "gcc" or "cc" } end
  local path = found(self.compiler[1])
  if lfs.attributes(path, "mode") ~= "file" then
    faults.raise("io", "cannot compile: there is no compiler %s (%s)", self.compiler[1],
      environment("CC") and "CC" or prefix ~= "" and "CROSS" or "CC")
  end
  self.compiler[1] = path
  local function asked(word)
    local words = table.move(self.compiler, 1, #self.compiler, 1, {})
    words[#words + 1] = word
    return output_of(words)
  end
  local said, triple = asked("--version"), asked("-dumpmachine"):match("^%S+") or ""
  self.machine, self.is_gcc = triple:match("^[%w_]+") or "", said:find("Free Software Foundation", 1, true) ~= nil
  self.system = systems.of(triple)
  common_words.append(self.compiler, systems[self.system].flags)
  local prefixes = {} -- a triple may name a vendor (aarch64-unknown-linux-gnu), which Debian's tools leave out
  if prefix ~= "" then
    prefixes[1] = prefix
  elseif self.machine ~= libuv.os_uname().machine then
    prefixes = { triple .. "-", (triple:gsub("^([^-]+)%-[^-]+%-([^-]+%-[^-]+)$", "%1-%2")) .. "-" }
  end
  self.version = said:match("[^\n]*")
  self.ar, self.objcopy = tool("ar", prefixes), tool("objcopy", prefixes)
  local parts = { table.concat(self.compiler, " "), hash.content(files.read(path) or ""), said, triple }
  for _, name in ipairs(VARIABLES) do parts[#parts + 1] = environment(name) or "" end
  self.identity = hash.list(parts)
  local folders = common_words.map(self.ldflags, function(word) return word:match("^%-L(.+)") end)
  local searched = asked("-print-search-dirs"):match("libraries: =([^\n]*)") or ""
  for folder in searched:gmatch("[^:]+") do folders[#folders + 1] = folder end
  function self.library(file) return library_file(folders, file) end
  function self.libraries(name) return library_text(folders, name) end
  local mpi = environment("ATTN2C_MPI") or ""
  self.mpi = asks_for_mpi(mpi ~= "" and mpi or nil)
  return self
end

return toolchain
