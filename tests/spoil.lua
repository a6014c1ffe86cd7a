-- spoil.lua: runs a Lua program that builds (gen/attn2c, tests/program.lua), but treats some of the emitted files in
-- another way. It changes those whose names end in $SPOIL_ENDING by the sed script $SPOIL_SCRIPT before they are
-- written (helper.spoiling). It compiles all emitted files, or those whose names match the pattern $SPOIL_SOURCES, with
-- $SPOIL_COMPILER, if that is set, and with the level $SPOIL_LEVEL (helper.compiling). It defines the macro
-- $SPOIL_DEFINE in emitted files, and in files of the runtime that ask for the processor. It adds the words
-- $SPOIL_FLAGS to emitted files and to those files of the runtime whose folders are in $SPOIL_ROOMS. Other builds share
-- the runtime's other objects.
--   lua5.4 tests/spoil.lua PROGRAM [WORDS ...]
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
dofile(here .. "/../gen/common/compiled.lua").start(((here .. "/../gen"):gsub("/tests/%.%./", "/")))

local build = require("commands.build")
local files = require("common.files")
local process = require("common.process")
local recipe = require("commands.build.recipe")

local ending, script = os.getenv("SPOIL_ENDING") or "", os.getenv("SPOIL_SCRIPT") or ""
local compiler, level = os.getenv("SPOIL_COMPILER"), os.getenv("SPOIL_LEVEL")
local macro, sources = os.getenv("SPOIL_DEFINE"), os.getenv("SPOIL_SOURCES") or ""
local flags, rooms = {}, {}
for word in (os.getenv("SPOIL_FLAGS") or ""):gmatch("%S+") do flags[#flags + 1] = word end
for room in (os.getenv("SPOIL_ROOMS") or ""):gmatch("%S+") do rooms[room] = true end

-- Returns a text after the sed script.
local function spoiled(text)
  local path = os.tmpname()
  local handle = assert(io.open(path, "wb"))
  assert(handle:write(text))
  assert(handle:close())
  local child = process.run { words = { "sed", "-e", script, path }, gather = "all" }
  os.remove(path)
  assert(child.code == 0, child.errors)
  return child.output
end

local make, jobs, words = build.make, recipe.jobs, recipe.words

function build.make(state, ...)
  for _, file in ipairs(ending ~= "" and state.files or {}) do
    if file.name:sub(-#ending) == ending then file.text = spoiled(file.text) end
  end
  return make(state, ...)
end

local is_of_processors = { ["base/processor.h"] = true } -- by the path of a file of the runtime

-- True if a file of the runtime includes base/processor.h, itself or through others.
local function sees_processor(path)
  if is_of_processors[path] == nil then
    is_of_processors[path] = false
    for header in (files.read(here .. "/../runtime/" .. path) or ""):gmatch('#include "([^"\n]+)"') do
      is_of_processors[path] = is_of_processors[path] or sees_processor(header)
    end
  end
  return is_of_processors[path]
end

-- True if the macro is for a job.
local function has_macro(job)
  return macro and (job.from == "model" or job.from == "runtime" and sees_processor(job.source))
end

-- Returns the words that are added to the commands of a job.
local function added_to(job)
  local has_flags = job.from == "model" or job.from == "runtime" and rooms[job.source:match("^%w+")]
  return { has_macro(job) and "-D" .. macro or {}, has_flags and flags or {} }
end

function recipe.jobs(...)
  local list = jobs(...)
  for _, job in ipairs(list) do
    local is_chosen = job.from == "model" and job.source:find(sources) ~= nil
    local added = added_to(job)
    for i, command in ipairs((is_chosen or has_macro(job) or #added[2] > 0) and job.commands or {}) do
      if command[1].of == "compiler" then
        job.commands[i] = { is_chosen and compiler or command[1], table.move(command, 2, #command, 1, {}), added,
          level = is_chosen and level or nil }
      end
    end
  end
  return list
end

-- The user's level, which the environment of specs has, replaces all others in a command.
function recipe.words(command, of)
  local list = words(command, of)
  list[#list + 1] = command.level
  return list
end

table.move(arg, 1, #arg + 1, 0)
dofile(arg[0])
