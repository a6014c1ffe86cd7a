-- runner.lua: runs jobs in parallel, one per processor, and returns their results.
-- A job whose key is in the store is not run, unless it has to run each time; nor is what only such jobs need looked
-- at. A key consists of everything that a result depends on: the commands, the toolchain, the contents (never the
-- times) of the files that are read, and the keys of the results that are taken.
local emulator = require("common.emulator")
local faults = require("common.faults")
local hash = require("common.hash")
local process = require("common.process")
local recipe = require("commands.build.recipe")
local terminal = require("common.terminal")
local systems = require("data.systems")
local uv = require("common.libuv")

local runner = {}

local FORMAT = "attn2c result 2"
local LINK_WEIGHT, COMPILE_WEIGHT = 60000, 20000 -- time of a job, in bytes of C that take the same time to compile
local AGAIN_MS = 20        -- between two looks for results that other processes make
local PATIENCE_MS = 60000  -- after which such a result is made here, too: the other process may have been stopped

-- Returns flags that keep the names of folders out of a result, mainly out of debugging information, so that the result
-- is the same wherever it is made. A compiler cannot tell where a name with = ends: such a name of the runtime's folder
-- stays, and is part of the key. A compiler never gets the name of the model's folder (link_sources).
local function maps_of(self, work)
  local list = {}
  local function map(folder, name)
    local is_plain = folder and not folder:find("=", 1, true)
    if is_plain and work then list[#list + 1] = ("-ffile-prefix-map=%s=%s"):format(folder, name) end
    if folder and not is_plain and not work then list[#list + 1] = folder end
  end
  map(self.folders.runtime, "attn2c/runtime")
  map(work, ".") -- work may be below another folder; the last map that fits counts
  return list
end

-- Links the model's source, and the files that it includes, into the job's folder. A compiler first looks for a header
-- next to the file that includes it, and in the model's folder `model/model.h` may be the header of another model.
local function link_sources(self, job, work)
  if job.from ~= "model" then return end
  for _, name in ipairs { job.source, table.unpack(self.links or {}) } do
    local made, message = uv.fs_symlink(self.folders.model .. "/" .. name, work .. "/" .. name)
    if not made then faults.raise("io", "cannot link %s into %s: %s", name, work, message) end
  end
end

-- Returns the words for placeholders in a job's commands: as they are run in the folder `work`, or, without `work`, for
-- the job's key, which has no paths.
local function meanings(self, job, work)
  local inputs, tools = { job.source }, self.toolchain
  for i, name in ipairs(job.inputs or {}) do
    inputs[i] = work and self.results[name].path or name .. " " .. self.identities[name]
  end
  local function mpi(option) return function() return tools.mpi(option) end end
  return { mpi_flags = mpi("--cflags"), mpi_libraries = mpi("--libs"),
    compiler = work and tools.compiler or "<compiler>", cflags = tools.cflags, ldflags = tools.ldflags,
    ar = work and tools.ar or "<ar>", objcopy = work and tools.objcopy or "<objcopy>",
    maps = maps_of(self, work), runtime = work and self.folders.runtime or "<runtime>", inputs = inputs,
    jansson = work and tools.library("libjansson.a") or "-l:libjansson.a", weights = self.weights,
    source = job.source,
    result = work and work .. "/" .. job.name or "<result>" }
end

-- Returns what identifies a job's result: its key, or, if it has none, its SHA-256. Returns nil if it depends on a job
-- that has to run first.
local key_of
local function identify(self, name)
  local job, known = self.jobs[name], self.identities[name]
  if not known and job and not job.is_fresh then
    known = key_of(self, job)
  elseif not known and self.results[name] then
    known = self.results[name].sum
  end
  self.identities[name] = known
  return known
end

function key_of(self, job)
  for _, name in ipairs(job.inputs or {}) do if not identify(self, name) then return nil end end
  local parts = { FORMAT, self.toolchain.identity, job.name }
  for _, command in ipairs(job.commands) do
    local words = recipe.words(command, meanings(self, job))
    parts[#parts + 1] = tostring(#words)
    table.move(words, 1, #words, #parts + 1, parts)
    for _, word in ipairs(words) do
      if word:match("^%-l") then parts[#parts + 1] = self.toolchain.libraries(word:sub(3)) end
    end
  end
  if job.source then
    parts[#parts + 1] = self.sources[job.from][job.source]
    parts[#parts + 1] = self.headers(job.from, job.source)
  end
  return hash.list(parts)
end

local function finish(self, job, result, weight)
  if not job.is_output and not job.is_read then result.text = nil end -- it may be as large as all weights
  self.results[job.name] = result
  self.count = self.count + 1
  self.done = self.done + weight
end

-- Prints a tool's output, made safe for a terminal. If the model's program succeeds, only its errors.
local function say(child, is_ours)
  local said = child.errors .. (is_ours and "" or child.output)
  if said ~= "" then io.stderr:write((said:gsub("[^\n]+", terminal.safe))) end
end

-- True if a job runs a program that another job has built, on the user's files.
local function is_program_of_ours(job) return job.is_fresh and not job.source end

-- Starts an active job's next command, in the folder of its source: compilers get no path of a source, as gcc writes it
-- unescaped into the assembly of instructions of AMX, where a folder's " or newline would be an error.
local function step(self, active)
  local job = active.job
  active.at = active.at + 1
  local words = recipe.words(job.commands[active.at], meanings(self, job, active.work))
  if is_program_of_ours(job) then words = emulator.words(words) end
  local folder = job.from == "runtime" and self.folders.runtime or active.work
  local child, message = process.start { words = words, folder = folder, gather = "all",
    environment = job.environment }
  if not child then faults.raise("io", "cannot compile %s: %s: %s", job.source or job.name, words[1], message) end
  active.child = child
end

-- Raises the output of the model's own program as a fault of the user's weights, line by line, with its exit code.
local function refuse(child)
  local lines, kind = {}, "io"
  for line in child.errors:gmatch("[^\n]+") do
    local said = line:match("^[%w_]+%.packer: (.*)$")
    for name, code in pairs(faults.code) do if said and code == child.code then kind = name end end
    lines[#lines + 1] = said or line
  end
  if #lines == 0 then lines[1] = "cannot take the weights" end
  faults.raise(kind, lines)
end

-- Raises a fault if the compiler has failed because libxsmm is missing. Debian has it for only one processor, and
-- musl-gcc never finds it.
local function check_libxsmm(child)
  if child.errors:find("fatal error: '?libxsmm_[%w_]+%.h") or child.errors:find("find[%w ]* %-lxsmmgen") then
    faults.raise("machine", "the compiler finds no libxsmm (in Debian 12 the package libxsmm-dev, only for amd64); "
      .. "kernels=c builds without it")
  end
end

-- Refuses a compiler that succeeds without writing a result, or that writes something else than an object. The reason
-- may be a program that is not a compiler (CC=true), or flags such as -S.
local function check_written(self, active)
  local job = active.job
  local handle <close> = io.open(active.work .. "/" .. job.name, "rb")
  local begins = job.is_object and systems[self.toolchain.system].object or ""
  if handle and (handle:read(#begins) or "") == begins then return end
  local words = recipe.words(job.commands[active.at], meanings(self, job, active.work))
  faults.raise("io", "cannot compile %s: %s wrote no %s; CC must be a C compiler, and ATTN2C_CFLAGS must not change "
    .. "what it writes", job.source or job.name, words[1], job.is_object and "object" or job.name)
end

-- Continues an active job whose command has ended. Returns false once the job is done.
local function go_on(self, active)
  local job, child = active.job, active.child
  self.bar:hide()
  if is_program_of_ours(job) and child.code ~= 0 then refuse(child) end
  local has_failed = child.code ~= 0 or child.signal ~= 0
  if has_failed then check_libxsmm(child) end
  say(child, job.environment ~= nil)
  if has_failed then
    local said = child.errors .. child.output ~= "" and "what the compiler said is above"
      or child.signal ~= 0 and ("the compiler said nothing and was ended by signal %d"):format(child.signal)
      or ("the compiler said nothing and ended with status %d"):format(child.code)
    faults.raise("io", "cannot compile %s: %s", job.source or job.name, said)
  end
  if active.at < #job.commands then
    step(self, active)
    return true
  end
  check_written(self, active)
  if job.is_fresh then
    self.passing[#self.passing + 1] = active.work
    finish(self, job, self.store:look(active.work, job.name), job.weight)
  else
    finish(self, job, self.store:keep(active.work, active.key, job.name), job.weight)
  end
  active.work = nil
  return false
end

local function is_ready(self, job)
  for _, name in ipairs(job.inputs or {}) do if not self.results[name] then return false end end
  return true
end

-- Adds a job to those whose results are needed, once.
local function want(self, name)
  local job = self.jobs[name]
  if not job or self.wanted[name] then return end
  self.wanted[name] = true
  local source = job.source and self.sources[job.from][job.source]
  job.weight = source and COMPILE_WEIGHT + #source or LINK_WEIGHT
  self.total, self.all = self.total + job.weight, self.all + 1
  self.waiting[#self.waiting + 1] = { job = job, at = 0 }
end

-- Decides about a job whose result is needed. Returns true if the result is in the store, or the job can run, and then
-- is ready. Otherwise its inputs are needed, too.
local function decide(self, active)
  local job = active.job
  if not active.key and not job.is_fresh then
    active.key = identify(self, job.name)
    local result = active.key and self.store:find(active.key, job.name)
    if result then
      self.total = self.total - job.weight
      finish(self, job, result, 0)
      return true
    end
  end
  for _, name in ipairs(job.inputs or {}) do want(self, name) end
  if not is_ready(self, job) then return false end
  self.ready[#self.ready + 1] = active
  return true
end

-- Decides about all waiting jobs, and about those that they need.
local function sort_waiting(self)
  local again
  repeat
    again = false
    local list = self.waiting
    self.waiting = {}
    for _, active in ipairs(list) do
      if decide(self, active) then again = true else self.waiting[#self.waiting + 1] = active end
    end
    again = again or #self.waiting > #list
  until not again
  table.sort(self.ready, function(a, b) return a.job.weight > b.job.weight end) -- the longest job begins first
end

local function show(self)
  self.bar:show(self.done / math.max(1, self.total), ("compiling: %d of %d"):format(self.count, self.all))
end

-- Starts a ready job. Returns false if another process makes its result: then it stays ready.
local function start(self, active)
  local job = active.job
  active.work = self.store:begin(self.waited < PATIENCE_MS and active.key or nil)
  if not active.work then return false end
  local result = active.key and self.store:find(active.key, job.name) -- another process may have just made it
  if result then
    self.store:drop(active.work)
    finish(self, job, result, job.weight)
    return true
  end
  link_sources(self, job, active.work)
  self.active[#self.active + 1] = active
  step(self, active)
  return true
end

-- Starts ready jobs on the processors that are free. Returns true if some wait for other processes.
local function start_ready(self, width)
  local i, is_waiting = 1, false
  while i <= #self.ready and #self.active < width do
    if start(self, self.ready[i]) then
      table.remove(self.ready, i)
    else
      i, is_waiting = i + 1, true
    end
  end
  return is_waiting
end

local function run_all(self)
  local width = self.width or process.processors()
  sort_waiting(self)
  while #self.ready > 0 or #self.active > 0 do
    if start_ready(self, width) and #self.active == 0 then
      process.sleep(AGAIN_MS)
      self.waited = self.waited + AGAIN_MS
      show(self)
    end
    process.wait(function()
      for _, active in ipairs(self.active) do if active.child.over then return true end end
      return #self.active == 0
    end, function() show(self) end)
    for i = #self.active, 1, -1 do
      local active = self.active[i]
      if active.child.over and not go_on(self, active) then table.remove(self.active, i) end
    end
    sort_waiting(self)
  end
end

-- Ends all jobs of this run and removes their folders.
local function abandon(self)
  if #self.active > 0 then process.stop() end
  for _, active in ipairs(self.active) do if active.work then self.store:drop(active.work) end end
  for _, work in ipairs(self.passing) do self.store:drop(work) end
end

-- Returns a run of jobs that has not begun.
local function new(context, jobs)
  local results = setmetatable({}, { __index = context.given })
  local self = setmetatable({ results = results, jobs = {}, identities = {}, wanted = {}, waiting = {}, ready = {},
    active = {}, passing = {}, count = 0, waited = 0, done = 0, total = 0, all = 0 }, { __index = context })
  for _, job in ipairs(jobs) do self.jobs[job.name] = job end
  return self
end

--- Runs jobs (recipe.lua). Returns the results by name: { path, sum, text of an output or of a result that is read }.
--- Faults: io, after the compiler's own output; or a job's message about the weights.
---
--- context:
---   store, toolchain, bar
---   folders                { model, runtime }
---   sources                for each folder, name -> text
---   headers(FOLDER, NAME)  returns a text that changes with the headers that a source includes
---   links                  the names of the model's own headers, and of other files that its sources include
---   given                  results that exist already, by name, as they are returned; or nil
---   weights                the path of weights that are linked in
---   width                  the most jobs at a time; nil: one for each processor
function runner.run(context, jobs)
  local self = new(context, jobs)
  local _ <close> = setmetatable({}, { __close = function() abandon(self) end })
  local is_input = {}
  for _, job in ipairs(jobs) do
    for _, name in ipairs(job.inputs or {}) do is_input[name] = true end
  end
  for _, job in ipairs(jobs) do
    if job.is_output or job.is_read or not is_input[job.name] then want(self, job.name) end
  end
  run_all(self)
  return self.results
end

--- True if the store has the result of a job without inputs.
function runner.has(context, job)
  local self = new(context, { job })
  return self.store:has(identify(self, job.name), job.name)
end

return runner
