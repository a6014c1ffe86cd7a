-- spoil.lua: runs a Lua program that builds (gen/attn2c, tests/program.lua), but treats some of the emitted files in
-- another way. It changes those whose names end in $SPOIL_ENDING by the sed script $SPOIL_SCRIPT before they are
-- written (helper.spoiling). It compiles all emitted files with $SPOIL_COMPILER, if that is set, and with $SPOIL_LEVEL
-- after all other flags (helper.compiling). Other builds share the runtime's objects.
--   lua5.4 tests/spoil.lua PROGRAM [WORDS ...]
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
dofile(here .. "/../gen/common/compiled.lua").start(((here .. "/../gen"):gsub("/tests/%.%./", "/")))

local build = require("commands.build")
local process = require("common.process")
local recipe = require("commands.build.recipe")

local ending, script = os.getenv("SPOIL_ENDING") or "", os.getenv("SPOIL_SCRIPT") or ""
local compiler, level = os.getenv("SPOIL_COMPILER"), os.getenv("SPOIL_LEVEL")

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

local make, jobs = build.make, recipe.jobs

function build.make(state, ...)
  for _, file in ipairs(ending ~= "" and state.files or {}) do
    if file.name:sub(-#ending) == ending then file.text = spoiled(file.text) end
  end
  return make(state, ...)
end

function recipe.jobs(...)
  local list = jobs(...)
  for _, job in ipairs(list) do
    for i, command in ipairs(level and job.from == "model" and job.commands or {}) do
      if command[1].of == "compiler" then
        job.commands[i] = { compiler or command[1], table.move(command, 2, #command, 1, {}), level }
      end
    end
  end
  return list
end

table.move(arg, 1, #arg + 1, 0)
dofile(arg[0])
