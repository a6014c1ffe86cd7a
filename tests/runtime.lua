-- runtime.lua: makes an archive of the runtime without its main program, with the compiler and the flags that the
-- environment names. Its objects are kept as a model's are, so that builds with the same flags share them. The
-- archive lies in a folder of its own, next to the C of a small model.
--   lua5.4 tests/runtime.lua FOLDER/ARCHIVE
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
package.path = here .. "/../gen/?.lua;" .. package.path

local build = require("commands.build")
local faults = require("common.faults")
local pipeline = require("pipeline")
local recipe = require("commands.build.recipe")

-- For all models: models of texts, pictures and chats, and models that write. Ranks need MPI.
local ALL = { providers = { library = "libxsmm", program = "c" }, has_text = true, has_pictures = true,
  has_sound = true, has_chat = true, has_generation = true, has_speech = true }

-- True for sources of which a program has one, or that are programs.
local function is_apart(source)
  return source == "program/main.c" or source:match("^model/kernels_") or source:match("^tools/")
end

local folder, name = arg[1]:match("^(.*)/([^/]*)$")

local jobs = recipe.jobs

function recipe.jobs(spec, builds, sources, entries)
  local list, inputs = {}, {}
  for _, job in ipairs(jobs(spec, builds, sources, entries, ALL)) do
    if job.from == "runtime" and job.is_object and not is_apart(job.source) then
      list[#list + 1], inputs[#inputs + 1] = job, job.name
    end
  end
  list[#list + 1] = { name = name, inputs = inputs,
    commands = { { { of = "ar" }, "rcsD", { of = "result" }, { of = "inputs" } } } }
  return list
end

local done, value = pcall(function()
  local root = here .. "/.."
  build.make(pipeline.run(root, root .. "/models/small.lua", { "kernels=c" }), folder, root, { only = name })
end)
if not done then
  io.stderr:write(faults.is(value) and table.concat(value.lines, "\n") or tostring(value), "\n")
  os.exit(1)
end
