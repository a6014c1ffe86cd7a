-- case.lua: one description put to the test: compiled in this process and by the command in
-- another, whose bytes must agree, then built with guard pages and checked.
local beside = require("beside")
local faults = require("common.faults")
local facts = require("commands.machine.facts")
local files = require("common.files")
local pipeline = require("pipeline")
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
local guard = dofile(here .. "/../guard.lua")
local quote = dofile(here .. "/../quote.lua")
local ranks = require("draw_ranks")
local text = require("text")

local case = {}

local BUILD_SECONDS, CHECK_SECONDS = 600, 600 -- many times what is needed; a neighbour may take most of the machine
local TAIL_LINES = 12 -- of what a failing command said

--- Compiler flags of a case's build: -O0 comes after the build's own and is quick; the bits are the same. Specs build
--- with these flags, too (helper.quick), and share the runtime's objects.
case.QUICK = "-O0 -Werror"

--- Returns the flags of a numbered case: one in four, or in in_so_many, is built as for a user.
function case.flags(number, in_so_many)
  return number % (in_so_many or 4) == 0 and "-Werror" or case.QUICK
end

local function tail(path)
  local lines = {}
  for line in (files.read(path) or ""):gmatch("[^\n]+") do lines[#lines + 1] = line end
  return table.concat(lines, "\n", math.max(1, #lines - TAIL_LINES + 1))
end

-- Runs a shell command; returns nil, or the kind of failure and its words.
local function execute(command, log, kinds)
  local _, how, code = os.execute(("{ %s; } >%s 2>&1"):format(command, quote(log)))
  if how == "exit" and code == 0 then return nil end
  if how == "signal" or code > 128 then return "crash", tail(log) end
  if code == 124 then return "slow", tail(log) end
  return kinds[code] or "status " .. code, tail(log)
end

-- The lines of a check's table that failed, and what stands after it.
local function failing_rows(log)
  local lines = {}
  for line in (files.read(log) or ""):gmatch("[^\n]+") do
    if not line:match(" ok%s*$") then lines[#lines + 1] = line end
  end
  return table.concat(lines, "\n", 1, math.min(#lines, TAIL_LINES))
end

-- True if each entry that failed first diverges where numbers are too large for f32: random weights let the states of
-- a deep stack without norms grow so far. Other faults come before that.
local function only_overflows(log)
  local overflow, all = nil, false
  for line in (files.read(log) or ""):gmatch("[^\n]+") do
    if line:find("^%d+ passed, 0 failed") then overflow = nil end
    overflow = line:match("^overflow: (%S+) has ") or overflow
    local first = line:match("^first to diverge: (%S+) ")
    if first then
      if first ~= overflow then return false end
      overflow, all = nil, true
    end
  end
  return all
end

-- A list of targets whose graphs differ in how numbers are stored: emitted in every case with products of other types
-- than f32, as few draws are of a list that not every machine can run.
local LISTED = 'target="avx512bf16,avx512vnni,avx2"'

--- Emitted steps of a description, and the pipeline's state; nil, the kind of failure and its words. exposed: whether
--- inner tensors are outputs, too. overrides: the command line's, or nil.
function case.compile(path, exposed, overrides)
  beside.write(case.root, path)
  local ok, result = xpcall(pipeline.run, function(value)
    return faults.is(value) and value or { defect = debug.traceback(tostring(value), 2) }
  end, case.root, path, overrides or {}, nil, { exposed = exposed, rates = facts.source(case.root) })
  if ok then return result end
  if faults.is(result) then return nil, "refused", table.concat(result.lines, "\n") end
  return nil, "defect", result.defect
end

-- Returns the command that builds a description's program into a folder, with guard pages.
local function builder(path, built, options)
  return ("ATTN2C_CFLAGS=%s ATTN2C_LDFLAGS=%s lua5.4 %s %s %s%s"):format(quote(options.flags), guard,
    quote(case.root .. "/tests/program.lua"), path, built, options.exposed and " --exposed" or "")
end

--- Puts a description to the test in `folder`. options: flags, seed, nan (whether NaN is planted too), exposed (whether
--- inner tensors are outputs, too, which `check` also wants one by one); compiler and library flags come from the
--- environment. Returns true, with "too large" if nothing differs before numbers are too large for f32; or false, the
--- kind of failure ("refused", "defect", "bytes", "compile", "mismatch", "crash", "slow", "status N") and its words.
--- The folders, `folder` and folder_built, are kept only on a failure.
function case.run(description, folder, options)
  local built = folder .. "_built"
  local remove = ("rm -rf %s %s"):format(quote(folder), quote(built))
  local large
  os.execute(remove)
  files.make_folder(folder)
  local path = folder .. "/description.lua"
  files.write_all(folder, { { name = "description.lua", text = text.description(description) } })
  local state, kind, said = case.compile(path, options.exposed)
  if not state then return false, kind, said end
  if description.precision and description.target ~= "generic" then
    local _, listed_kind, listed_said = case.compile(path, options.exposed, { LISTED, "kernels=c" })
    if listed_kind == "defect" then return false, listed_kind, listed_said end
  end
  local log = folder .. "/log"
  kind, said = execute(("timeout %d env %s"):format(BUILD_SECONDS, builder(quote(path), quote(built), options)), log,
    { [4] = "compile", [70] = "defect" })
  if kind then return false, kind, said end
  for _, file in ipairs(state.files) do
    if files.read(built .. "/" .. file.name) ~= file.text then
      return false, "bytes", file.name .. " differs between two runs of the compiler"
    end
  end
  for _, target in ipairs(state.target_names) do
    for _, more in ipairs { "", options.nan and " --nan" } do
      kind, said = execute(("ATTN2C_TARGET=%s timeout %d env %s%s/%s check --seed %d%s"):format(target, CHECK_SECONDS,
        ranks.start(description), quote(built), description.name, options.seed, more), log, { [1] = "mismatch" })
      if kind == "mismatch" and only_overflows(log) then kind, large = nil, "too large" end
      if kind then return false, kind, kind == "mismatch" and failing_rows(log) or said end
    end
  end
  os.execute(remove)
  return true, large
end

--- The command that repeats a case whose description, of this name, is in a file.
function case.command(path, name, options)
  local built = quote(path .. "_built")
  return ("%s && %s/%s check --seed %d"):format(builder(quote(path), built, options), built, name, options.seed)
end

return case
