-- program.lua: builds the program of a description, as `check` does, without the libraries that `build` makes. With
-- --only=NAME it builds another result in place of the program. With --exposed the inner tensors of the model are
-- outputs, too, as in `quality` and `calibrate`; with --text a folder's program takes text, and with --serve it has
-- the command `serve`. A program with --answers has no trace and no profile, so that it neither checks nor times
-- itself. Its exit codes are as in attn2c.
--   lua5.4 tests/program.lua DESCRIPTION FOLDER [--only=NAME] [--exposed] [--text] [--serve] [--answers]
--     [KEY=VALUE ...]
--   lua5.4 tests/program.lua --each BUILD ...      several, one after the other (tests/cases.lua)
-- A BUILD is such words, a line each. If a build fails, FOLDER.log says why, and there is no FOLDER.
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
dofile(here .. "/../gen/common/compiled.lua").start(((here .. "/../gen"):gsub("/tests/%.%./", "/")))

local build = require("commands.build")
local facts = require("commands.machine.facts")
local faults = require("common.faults")
local files = require("common.files")
local lfs = require("lfs")
local pipeline = require("pipeline")
local recipe = require("commands.build.recipe")

local root = here .. "/.."

local all_jobs = recipe.jobs

-- Returns the jobs of a model without its traces and profiles, whose functions a program has from the library.
local function jobs_of_answers(...)
  local list, left_out, kept = all_jobs(...), {}, {}
  for _, job in ipairs(list) do
    local code = job.from == "model" and (job.name:match("^(.*_trace)%.o$") or job.name:match("^(.*_profile)%.o$"))
    if code then left_out[job.name] = code else kept[#kept + 1] = job end
  end
  for _, job in ipairs(kept) do
    local inputs, command = {}, { table.unpack(job.commands[1]) }
    for _, name in ipairs(job.inputs or {}) do
      local code = left_out[name]
      if code then command[#command + 1] = ("-Wl,--defsym=%s_run=%s_run"):format(code, code:gsub("_%a+$", ""))
      else inputs[#inputs + 1] = name end
    end
    if job.inputs then job.inputs, job.commands[1] = inputs, command end
  end
  return kept
end

-- Builds what words say. Returns nil, or a fault.
local function make(words)
  local options, overrides = {}, {}
  for i = 3, #words do
    local option, value = words[i]:match("^%-%-(%l+)=?(.*)$")
    if option then options[option] = value else overrides[#overrides + 1] = words[i] end
  end
  recipe.jobs = options.answers and jobs_of_answers or all_jobs
  local done, value = xpcall(function()
    local state = pipeline.run(root, words[1], overrides, nil, { rates = facts.source(root),
      exposed = options.exposed and true or nil, with_text = options.text ~= nil })
    build.make(state, words[2], root, { only = options.only or state.spec.name, serves = options.serve ~= nil })
  end, function(value)
    return faults.is(value) and value or { code = 70, lines = { debug.traceback(tostring(value), 2) } }
  end)
  return not done and value or nil
end

local function clear(folder) if lfs.attributes(folder, "mode") then files.remove_folder(folder) end end

-- Builds what a text says, with all that is said in FOLDER.log.
local function make_one(text)
  local words = {}
  for word in text:gmatch("[^\n]+") do words[#words + 1] = word end
  clear(words[2])
  local log <close> = assert(io.open(words[2] .. ".log", "w"))
  rawset(io, "stderr", log)
  local fault = make(words)
  if fault then
    log:write(table.concat(fault.lines, "\n"), "\n")
    clear(words[2])
  end
end

collectgarbage("incremental", 400) -- as in gen/attn2c
if arg[1] == "--each" then
  for i = 2, #arg do make_one(arg[i]) end
  os.exit(0, true)
end
local fault = make(arg)
if fault then
  io.stderr:write(table.concat(fault.lines, "\n"), "\n")
  os.exit(fault.code)
end
