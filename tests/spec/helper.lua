-- helper.lua: functions for all specs: small descriptions, states made without files, temporary files, faults, and
-- running the command.
-- Specs run from the top of the repository: lua5.4 /usr/bin/busted tests/spec
local helper = {}

local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."

--- Path of the repository's top.
helper.root = here .. "/../.."

package.path = helper.root .. "/gen/?.lua;" .. package.path

-- busted forgets a spec's modules at its end. luv's loop is freed with its module, but luv would still use it for the
-- next spec of the same process. The next spec also takes the modules as they were compiled for this one.
local registry = debug.getregistry()
if not registry["attn2c luv"] then
  registry["attn2c luv"] = require("luv")
  local chunks = {}
  table.insert(package.searchers, 2, function(name)
    local path = package.searchpath(name, package.path)
    if path and not chunks[path] then chunks[path] = loadfile(path) end
    return chunks[path], path
  end)
end
package.loaded.luv = registry["attn2c luv"]

collectgarbage("incremental", 400) -- specs keep little

-- busted looks a global name up in each block around the code that asks, and then in Lua's own globals. A spec that
-- loops spends a third of its time so. Names that no spec sets stand in the table in which the search begins.
local function keep_globals(func)
  local name, environment = debug.getupvalue(func, 1)
  if name ~= "_ENV" or environment == _G then return end
  for _, key in ipairs { "debug", "error", "getmetatable", "io", "ipairs", "load", "math", "next", "os", "pairs",
    "pcall", "require", "select", "setmetatable", "string", "table", "tonumber", "tostring", "type" } do
    rawset(environment, key, _G[key])
  end
end
keep_globals(debug.getinfo(3, "f").func)

local faults = require("common.faults")
local files = require("common.files")
local libuv = require("common.libuv")
local pipeline = require("pipeline")
local process = require("common.process")

--- Compiler flags of most builds in specs, which the environment has: -O0 comes after the build's own flags and is
--- quick; the bits are the same.
helper.quick = "-O0 -Werror"
libuv.os_setenv("ATTN2C_CFLAGS", helper.quick)

--- True in `make test-long`, which runs every case; `make test` runs samples of the long lists.
helper.is_long = (os.getenv("ATTN2C_TEST_LONG") or "") ~= ""

--- Returns a list in `make test-long`, else every `step`-th of its names and those in the set `kept`.
function helper.sample(list, step, kept)
  if helper.is_long then return list end
  local some = {}
  for i, name in ipairs(list) do
    if i % step == 1 or kept and kept[name] then some[#some + 1] = name end
  end
  return some
end

--- Shell words in front of a build that is optimised, as a user's builds are. Specs share them, as each other set of
--- flags compiles the runtime once more.
helper.optimised = "ATTN2C_CFLAGS=-Werror"

--- Returns a small valid description with a fixed target; `more` replaces or adds keys.
function helper.description(more)
  local result = { name = "tiny", seq = 8, d_model = 16, heads = 2, layers = 1, target = "avx512" }
  for key, value in pairs(more or {}) do result[key] = value end
  if result.context and (more or {}).seq == nil then result.seq = nil end
  return result
end

--- Returns the state after the pass `last` (default: all) for a description that is no file. Checkers run as in the
--- compiler. The state is the longest entry's, which falls back to the model's. wanted: further fields (pipeline.run).
function helper.state(description, last, wanted)
  local state = { root = helper.root, file = "tiny.lua", overrides = {}, text = "", description = description,
    host = function() return "avx2" end, machine = "A-CPU", notes = {} }
  for key, value in pairs(wanted or {}) do state[key] = value end
  for _, name in ipairs(pipeline.passes) do
    if name ~= "describe" then
      pipeline.step(state, name)
      if name == last then break end
    end
  end
  return state.primary
end

--- Returns helper.state of helper.description(more).
function helper.tiny(more, last) return helper.state(helper.description(more), last) end

--- Returns the bytes of a file.
function helper.read(path)
  local handle = assert(io.open(path, "rb"))
  local text = handle:read("a")
  handle:close()
  return text
end

--- Writes a file in place.
function helper.write(path, text)
  local handle = assert(io.open(path, "wb"))
  assert(handle:write(text))
  assert(handle:close())
end

--- Quotes a word of a shell command.
helper.shell = dofile(here .. "/../quote.lua")

--- Runs a shell command in a folder, which is made if it does not exist (default: the working directory). Returns its
--- exit code (128 + n after signal n) and its output.
function helper.run(command, folder)
  if folder then
    files.make_folder(folder)
    command = ("cd %s && { %s; }"):format(helper.shell(folder), command)
  end
  local handle = assert(io.popen(("{ %s; } 2>&1"):format(command)))
  local said = handle:read("a")
  local _, how, code = handle:close()
  return how == "signal" and 128 + code or code, said
end

--- Returns the output of a shell command, which must succeed.
function helper.succeeds(command, folder)
  local code, said = helper.run(command, folder)
  if code ~= 0 then error(("%s\nexit %d:\n%s"):format(command, code, said:sub(-4000)), 2) end
  return said
end

--- Returns two functions that run words without a shell in a folder. try(words) returns the exit code (or -signal),
--- output and errors. runs(words) returns the output; the command must succeed and print no errors.
function helper.runner(folder)
  local function try(words)
    local child = process.run { words = words, folder = folder, gather = "all" }
    return child.signal ~= 0 and -child.signal or child.code, child.output, child.errors
  end
  return try, function(words)
    local code, output, errors = try(words)
    if code ~= 0 or errors ~= "" then error(("%s\nexit %d:\n%s"):format(table.concat(words, " "), code, errors), 2) end
    return output
  end
end

--- Runs lines of shell from a file in a folder, for at most `seconds` (default: many times what is needed).
--- Returns the exit code (128 + n after signal n, 124 after `seconds`), standard error and standard output.
function helper.script(lines, folder, seconds)
  helper.write(folder .. "/line.sh", lines .. "\n")
  local _, _, code = os.execute(("timeout %d sh %s >%s 2>%s"):format(seconds or 300, helper.shell(folder .. "/line.sh"),
    helper.shell(folder .. "/stdout"), helper.shell(folder .. "/stderr")))
  return code, helper.read(folder .. "/stderr"), helper.read(folder .. "/stdout")
end

--- Returns the fault that a function raises; nil if it raises nothing. Other errors are raised again.
function helper.fault(fn, ...)
  local ok, value = pcall(fn, ...)
  if ok then return nil end
  if not faults.is(value) then error(value, 0) end
  return value
end

--- Returns the lines of the fault that validating a description raises, without the file's name; {} if it is valid.
function helper.refusals(description)
  local fault = helper.fault(helper.state, description, "validate")
  if not fault then return {} end
  assert(fault.code == faults.code.usage)
  local lines = {}
  for i, line in ipairs(fault.lines) do lines[i] = line:match("^tiny%.lua: (.*)$") end
  return lines
end

--- Returns the error text of a function that must fail with a plain error (a defect found), and not with a fault.
function helper.defect(fn, ...)
  local ok, value = pcall(fn, ...)
  assert(not ok, "nothing was raised")
  assert(not faults.is(value), "a fault was raised, not a defect")
  return tostring(value)
end

-- Removes folders. Only what is left then takes a program, whose start would take longer than most folders.
local function remove(folders)
  for _, folder in ipairs(folders) do
    pcall(files.remove_folder, folder)
    if require("lfs").attributes(folder, "mode") then os.execute("rm -rf " .. helper.shell(folder)) end
  end
end

-- The folders of helper.folder. A spec that ends without helper.clean removes them, too.
local function folders() return setmetatable({}, { __gc = remove }) end
local made = folders()

--- Writes a text to a file of a new temporary folder and returns its path. helper.clean() removes all such folders.
function helper.file(text, name)
  local folder = helper.folder()
  local path = folder .. "/" .. (name or "tiny.lua")
  local handle = assert(io.open(path, "wb"))
  assert(handle:write(text))
  assert(handle:close())
  return path
end

--- Makes a temporary folder and returns its path.
function helper.folder()
  local folder = assert(libuv.fs_mkdtemp((os.getenv("TMPDIR") or "/tmp") .. "/lua_XXXXXX"))
  made[#made + 1] = folder
  return folder
end

--- Returns the names in a folder, sorted.
function helper.entries(folder)
  local list = {}
  for name in require("lfs").dir(folder) do if name ~= "." and name ~= ".." then list[#list + 1] = name end end
  table.sort(list)
  return list
end

--- Removes the folders of helper.file and helper.folder.
function helper.clean()
  remove(made)
  made = folders()
end

--- Returns the path of the repository's top, without links and dots.
function helper.absolute_root()
  local handle = assert(io.popen("cd " .. helper.shell(helper.root) .. " && pwd -P"))
  local path = handle:read("l")
  handle:close()
  return path
end

--- Runs gen/attn2c with words in a folder (default: the repository). environment: shell words that set variables, or
--- nil. Returns exit code, standard output, standard error.
function helper.command(list, folder, environment)
  local shell = helper.shell
  local errors = helper.file("", "stderr")
  local parts = { "cd", shell(folder or helper.root), "&&", environment or "", "lua5.4",
    shell(helper.absolute_root() .. "/gen/attn2c") }
  for _, word in ipairs(list) do parts[#parts + 1] = shell(word) end
  local handle = assert(io.popen(table.concat(parts, " ") .. " 2>" .. shell(errors)))
  local output = handle:read("a")
  local _, _, code = handle:close()
  return code, output, files.read(errors)
end

local worker

--- Runs gen/attn2c with words, as its own process would do, in one that serves all calls of a spec (tests/worker.lua).
--- Returns exit code, standard output, standard error, and the seconds of a processor that it took.
function helper.asked(list)
  if not worker then
    local replies = helper.folder() .. "/replies"
    assert(os.execute("mkfifo " .. helper.shell(replies)))
    worker = { requests = assert(io.popen(("ulimit -t 300; exec lua5.4 %s/tests/worker.lua %s >/dev/null"):format(
      helper.shell(helper.absolute_root()), helper.shell(replies)), "w")), replies = assert(io.open(replies, "rb")) }
  end
  worker.requests:write(string.pack("<I4", #list))
  for _, word in ipairs(list) do worker.requests:write(string.pack("<s4", word)) end
  worker.requests:flush()
  local function number(form, bytes)
    return (string.unpack(form, worker.replies:read(bytes) or error("the worker has ended", 3)))
  end
  local function text()
    local length = number("<I4", 4)
    return length > 0 and worker.replies:read(length) or ""
  end
  local code, seconds = number("<i4", 4), number("<d", 8)
  local output = text()
  return code, output, text(), seconds
end

--- Flags of sanitizers, and shell words in front of a build with them. They find the same faults without optimisation,
--- which would take most of the time. The compiler and the flags are the same everywhere, so that all specs share one
--- compiled runtime. GCC's sanitizers do not find arithmetic with a null pointer; clang's do. lld links such a program
--- in a third of the time.
local by_lld = "ATTN2C_LDFLAGS='-fuse-ld=lld -Wl,--threads=1' "
helper.addresses = "-fsanitize=address,undefined -fno-sanitize-recover=all"
helper.with_addresses = by_lld .. "CC=clang ATTN2C_CFLAGS='-g1 -O0 -Werror " .. helper.addresses .. "'"
helper.races = "-fsanitize=thread"

--- Linker flags of a program whose memory lies between pages without access (runtime/base/guard.h): its calls of the
--- runtime's allocation go there. Shell words that set them in front of a build of the program alone.
helper.guard = require("tests.guard")
helper.guarded = "ATTN2C_LDFLAGS=" .. helper.guard

-- Returns shell words that run gen/attn2c or tests/program.lua, whose path comes next, with variables of
-- tests/spoil.lua.
local function spoil(variables)
  return ("%s lua5.4 %s"):format(variables, helper.shell(helper.absolute_root() .. "/tests/spoil.lua"))
end

-- The rooms of the runtime that are searched for races: in `make test` those whose code runs in several threads of a
-- library. The objects of the others are those of other builds, so that a check takes less time.
local raced = "base system ops model weights reading packing measure"
if helper.is_long then
  local all = {}
  for name in require("lfs").dir(helper.root .. "/runtime") do all[#all + 1] = name:match("^%a+$") end
  raced = table.concat(all, " ")
end

--- Shell words in front of gen/attn2c or tests/program.lua that look for races in emitted files and in those rooms.
helper.with_races = spoil(("ATTN2C_LDFLAGS='-fuse-ld=lld -Wl,--threads=1 %s' SPOIL_FLAGS='-g1 %s' SPOIL_ROOMS='%s'")
  :format(helper.races, helper.races, raced))

--- Shell words in front of gen/attn2c or tests/program.lua whose runtime is that of `helper.optimised`, so that the
--- reference is fast, but whose emitted files are not optimised: that would take longer than it saves in small models.
helper.optimised_runtime = spoil(helper.optimised .. " SPOIL_LEVEL=-O0")

--- Shell words in front of gen/attn2c or tests/program.lua. They optimise only the kernels, for programs that compute
--- much: a token takes a sixth of the time, and a build a second more.
helper.fast_kernels = spoil("SPOIL_LEVEL=-O1 SPOIL_SOURCES='_[ko]%l+s%.c$'")

--- Shell words in front of gen/attn2c or tests/program.lua that emulate tiles of AMX.
helper.emulated_tiles = spoil("SPOIL_DEFINE=ATTN2C_TILES_EMULATED")

--- Returns shell words in front of gen/attn2c or tests/program.lua that change emitted files before these are compiled:
--- a sed script changes the files with an ending. The memory of the program is guarded.
function helper.spoiling(ending, script)
  return spoil(("%s SPOIL_ENDING=%s SPOIL_SCRIPT=%s"):format(helper.guarded, helper.shell(ending),
    helper.shell(script)))
end

--- Returns shell words in front of gen/attn2c or tests/program.lua that let `compiler` compile emitted files, with
--- `level` after all other flags. The memory of the program is guarded.
function helper.compiling(compiler, level)
  return spoil(("%s SPOIL_COMPILER=%s SPOIL_LEVEL=%s"):format(helper.guarded, compiler, level))
end

--- Fills a cache, CACHE/attn2c, with the runtime's objects by `helper.quick`, its archives, and a small model's
--- results. is_thin: only with seven of eight objects; a build has to make the others, and the archives. providers: of
--- the kernels that builds with this cache have (default: all).
function helper.seed(cache, is_thin, providers)
  local folder = helper.folder()
  helper.write(folder .. "/seed.lua", [[return { name = "seed", d_model = 16, heads = 2, seq = 4, layers = 1 }]])
  for _, kernels in ipairs(providers or { "c", "libxsmm" }) do
    local root = helper.shell(helper.absolute_root())
    helper.succeeds(("SEED_CACHE=%s %s lua5.4 %s/tests/seed.lua %s/gen/attn2c build seed.lua kernels=%s"):format(
      helper.shell(cache), is_thin and "SEED_THIN=1" or "", root, root, kernels), folder)
  end
  files.remove_folder(folder)
end

--- Where mypy keeps what it knows of NumPy, which would take it some seconds in each spec.
helper.mypy_cache = helper.absolute_root() .. "/out/test/mypy"

--- Asks the functions of Python modules that a spec has built in a folder (tests/bindings/tasks.py). kind: of the
--- models; goldens, more: folders. Returns what is printed, which is nothing.
function helper.asks_tasks(kind, folder, goldens, more)
  local top = helper.absolute_root()
  local words = { "env", "PYTHONPATH=" .. top .. "/tests/bindings", "PYTHONDONTWRITEBYTECODE=1",
    "/usr/bin/python3", "-W", "error", top .. "/tests/bindings/tasks.py", kind, folder, goldens, more }
  local _, runs = helper.runner(folder)
  return runs(words)
end

--- Returns the CPU seconds of all commands that have ended.
function helper.cpu_of_children()
  local fields = {}
  for field in helper.read("/proc/self/stat"):match("%) (.*)$"):gmatch("%S+") do fields[#fields + 1] = field end
  return (fields[14] + fields[15]) / 100 -- cutime and cstime, in ticks
end

--- Returns the op of the first entry whose result is called `name`.
function helper.op(state, name)
  for _, op in ipairs(state.graph.entry.ops) do if op.result.name == name then return op end end
  return nil
end

--- Returns "result = op(operands)" of each op, in order; with a pattern only the ops whose results' names match it.
function helper.equations(state, pattern)
  local ops, list = require("data.ops"), {}
  for _, op in ipairs(state.graph.entry.ops) do
    local operands = {}
    for _, name in ipairs(ops.table[op.op].operands) do
      if op.operands[name] then operands[#operands + 1] = op.operands[name].name end
    end
    if not pattern or op.result.name:find(pattern) then
      list[#list + 1] = ("%s = %s(%s)"):format(op.result.name, op.op, table.concat(operands, ", "))
    end
  end
  return list
end

--- Returns all steps of a program, in order.
function helper.steps(program)
  local list = {}
  for _, segment in ipairs(program.segments) do
    for _, section in ipairs(segment.sections) do
      for _, step in ipairs(section.steps) do list[#list + 1] = step end
    end
  end
  return list
end

--- Returns the texts of a program's steps, without notes.
function helper.step_texts(program)
  local step_text, list = require("data.step_text"), {}
  for _, step in ipairs(helper.steps(program)) do
    if step.form ~= "note" then list[#list + 1] = step_text.of(step) end
  end
  return list
end

--- Returns the text of an emitted file.
function helper.emitted(state, name)
  for _, file in ipairs(state.files) do if file.name == name then return file.text end end
  return nil
end

--- Asserts that two texts are equal; the error names the first line that differs.
function helper.same_text(expected, got, what)
  if expected == got then return end
  local function lines(text)
    local list = {}
    for line in (text .. "\n"):gmatch("([^\n]*)\n") do list[#list + 1] = line end
    return list
  end
  local a, b = lines(expected), lines(got)
  for i = 1, math.max(#a, #b) do
    if a[i] ~= b[i] then
      error(("%s: line %d\n  expected: %s\n  got:      %s"):format(what, i, a[i] or "(nothing)", b[i] or "(nothing)"),
        2)
    end
  end
end

return helper
