-- program.lua: builds the program of a description, as `check` does, without the libraries that `build` makes. With
-- --only=NAME it builds another result in place of the program. With --exposed the inner tensors of the model are
-- outputs, too, as in `quality` and `calibrate`; with --text a folder's program takes text, and with --serve it has
-- the command `serve`, with --chat=FILE another chat template. A program with --answers has no trace and no profile, so
-- that it neither checks nor times itself. With --library there is the shared library, too, for the Python module. With
-- --notes the lines for the user are said. Its exit codes are as in attn2c.
--   lua5.4 tests/program.lua DESCRIPTION FOLDER [--only=NAME] [--exposed] [--text] [--serve] [--chat=FILE]
--     [--answers] [--library] [KEY=VALUE ...]
--   lua5.4 tests/program.lua --each BUILD ...      several, one after the other (tests/cases.lua)
-- A BUILD is such words, a line each. If a build fails, FOLDER.log says why, and there is no FOLDER.
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
dofile(here .. "/../gen/common/compiled.lua").start(((here .. "/../gen"):gsub("/tests/%.%./", "/")))

local build = require("commands.build")
local facts = require("commands.machine.facts")
local faults = require("common.faults")
local files = require("common.files")
local lfs = require("lfs")
local libuv = require("common.libuv")
local linkage = require("data.linkage")
local pipeline = require("pipeline")
local recipe = require("commands.build.recipe")
local toolchain = require("commands.build.toolchain")

local root = here .. "/.."

local all_jobs, find_tools, tools = recipe.jobs, toolchain.new, nil

-- All builds have the same compiler, which is asked once.
function toolchain.new()
  tools = tools or find_tools()
  return tools
end

local WHOLE = "_whole.c" -- ends the name of the source that stands for several

-- Sources of the model that are one, by name, and the job of the one that has the flags of all; {}: none is.
local joined = {}

-- Joins the interface, steps, operations and kernels of a model for one target in one source, and of a program its
-- table: a compiler takes less time for a small model than for the headers that each source includes. The interface is
-- first, as it makes what its header declares visible in a library. Steps of several entries have the same names, and
-- stay apart. So does an interface that has flags of its own. tests/spoil.lua wants sources as they are.
local function join(state, is_program)
  joined = {}
  local is_spoiled = os.getenv("SPOIL_ENDING") or os.getenv("SPOIL_SOURCES") or os.getenv("SPOIL_COMPILER")
  if is_spoiled or #state.builds > 1 then return end
  local name, texts, of_name, spec = state.spec.name, {}, {}, state.spec
  for _, file in ipairs(state.files) do of_name[file.name] = file.text end
  local is_apart = spec.processes or spec.opens == "packed"
  local wanted = { not is_apart and name .. "_model.c" or "", name .. "_ops.c", name .. "_kernels.c" }
  if #state.entries * #spec.workers == 1 then
    wanted[#wanted + 1] = linkage.ship(name, state.entries[1], spec.workers[1], true) .. ".c"
  end
  if is_program then wanted[#wanted + 1] = name .. "_program.c" end
  for _, each in ipairs(wanted) do
    if of_name[each] then joined[each], texts[#texts + 1] = true, of_name[each] end
  end
  table.insert(state.files, { name = name .. WHOLE, text = table.concat(texts, "\n") })
end

-- Returns the jobs of a model, with one job for sources that are joined. answers: without its traces and profiles,
-- whose functions a program has from the library.
local function jobs_of(answers, spec, ...)
  local list, left_out, kept, whole = all_jobs(spec, ...), {}, {}, nil
  for _, job in ipairs(list) do
    local code, what = job.name:match("^(.*_(%l+))%.o$")
    local is_timed = job.from == "model" and what == "profile"
    local is_left_out = answers and job.from == "model" and (is_timed or what == "trace")
    if is_left_out then left_out[job.name] = code
    elseif job.from == "model" and joined[job.source] and not is_timed then
      left_out[job.name] = WHOLE
      if job.source == spec.name .. "_ops.c" then whole = job end
    else kept[#kept + 1] = job end
  end
  for _, job in ipairs(kept) do
    local inputs, command, has_whole = {}, { table.unpack(job.commands[1]) }, false
    for _, name in ipairs(job.inputs or {}) do
      local code = left_out[name]
      if code and code ~= WHOLE then
        command[#command + 1] = ("-Wl,--defsym=%s_run=%s_run"):format(code, code:gsub("_%a+$", ""))
      elseif not code or not has_whole then
        inputs[#inputs + 1], has_whole = code and whole.name or name, has_whole or code == WHOLE
      end
    end
    if job.inputs then job.inputs, job.commands[1] = inputs, command end
  end
  if whole then
    whole.source = spec.name .. WHOLE
    kept[#kept + 1] = whole
  end
  return kept
end

local needed = recipe.needed

-- Takes several names, with a comma between two.
function recipe.needed(jobs, names)
  local list, seen = {}, {}
  for name in names:gmatch("[^,]+") do
    for _, job in ipairs(needed(jobs, name)) do
      if not seen[job.name] then list[#list + 1], seen[job.name] = job, true end
    end
  end
  return list
end

-- Builds what words say. Returns nil, or a fault.
local function make(words)
  local options, overrides = {}, {}
  for i = 3, #words do
    local option, value = words[i]:match("^%-%-(%l+)=?(.*)$")
    if option then options[option] = value else overrides[#overrides + 1] = words[i] end
  end
  function recipe.jobs(...) return jobs_of(options.answers, ...) end
  local done, value = xpcall(function()
    local state = pipeline.run(root, words[1], overrides, nil, { rates = facts.source(root),
      exposed = options.exposed and true or nil, with_text = options.text ~= nil, chat_template = options.chat })
    for _, line in ipairs(options.notes and state.notes or {}) do io.stderr:write(line, "\n") end
    join(state, not (options.only or options.library))
    local name = state.spec.name
    local program = options.library and name .. "," .. recipe.soname(name) or name
    build.make(state, words[2], root, { only = options.only or program, serves = options.serve ~= nil })
    if options.library then libuv.fs_symlink(recipe.soname(name), ("%s/lib%s.so"):format(words[2], name)) end
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

if arg[1] == "--each" then
  for i = 2, #arg do make_one(arg[i]) end
  os.exit(0, true)
end
local fault = make(arg)
if fault then
  io.stderr:write(table.concat(fault.lines, "\n"), "\n")
  os.exit(fault.code)
end
