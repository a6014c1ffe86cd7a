-- process.lua: starts other programs and waits for them.
-- Words go to exec as they are, without a shell, so that no part of a path or a name is read as a command. An interrupt
-- or a request to end is passed on to the children, and raised as "interrupted!" or "terminated!"; the end of a time
-- that a command has given itself (process.limit), as "late!".
local faults = require("common.faults")
local lfs = require("lfs")
local uv = require("common.libuv")

local process = {}

local TICK_MS = 100          -- milliseconds between two calls of a `tick`
local patience = 2000        -- milliseconds that children have to end after a signal, before they are killed
local caught                 -- the signal that asked this process to end
local is_watching = false    -- whether libuv handles signals
local running = {}           -- children that have not ended
local limit                  -- the time of uv.hrtime at which "late!" is raised, or nil

-- Lets libuv handle signals from the first child on. Lua's own handler would raise an error within a callback.
local function watch_signals()
  if is_watching then return end
  is_watching = true
  for _, name in ipairs { "sigint", "sigterm", "sighup" } do
    local handle = uv.new_signal()
    handle:start(name, function() caught = caught or name end)
    handle:unref()
  end
end

-- Sends a signal to a child, or to its whole process group if it has its own. The group is needed because a compiler's
-- driver does not end its children.
local function ask_to_end(child, signal) uv.kill(child.is_group and -child.pid or child.pid, signal) end

-- Closes handles. Closing takes effect only after a round of the loop. A handle that is freed before that, when the Lua
-- state is closed, ends the process with an abort.
local function finish(...)
  for _, handle in ipairs { ... } do handle:close() end
  uv.run("nowait")
end

--- Ends all children that still run.
function process.stop(signal)
  for child in pairs(running) do ask_to_end(child, signal or "sigterm") end
  local timer, is_patient = uv.new_timer(), true
  timer:start(patience, 0, function() is_patient = false end)
  while is_patient and next(running) do uv.run("once") end
  finish(timer)
  for child in pairs(running) do ask_to_end(child, "sigkill") end
  while next(running) do uv.run("once") end
end

--- Gives children less time to end after a signal than this process has. So it can kill them before its own parent,
--- which started it by process.start, kills it.
function process.hurry() patience = patience // 4 end

--- Gives this process a number of seconds from now on, after which waiting and polling raise "late!" once, and end the
--- children. nil: no limit.
function process.limit(seconds) limit = seconds and uv.hrtime() + math.floor(1e9 * seconds) end

-- True if waiting has to end before what is waited for.
local function is_asked_to_end() return caught or limit and uv.hrtime() > limit end

local function raise_asked()
  if not caught then
    limit = nil
    process.stop()
    error("late!", 0)
  end
  local signal = caught
  process.stop(signal)
  caught = nil
  error(signal == "sigint" and "interrupted!" or "terminated!", 0)
end

--- Raises "interrupted!" or "terminated!" if a signal has come since the first child was started; "late!" as above.
function process.poll()
  if is_watching then uv.run("nowait") end
  if is_asked_to_end() then raise_asked() end
end

-- Returns a pipe whose text is gathered as child[name].
local function gather(child, name)
  local pipe, parts = uv.new_pipe(false), {}
  child.open = child.open + 1
  child.pipes[#child.pipes + 1] = { pipe = pipe, read = function()
    pipe:read_start(function(_, data)
      if data then
        parts[#parts + 1] = data
        return
      end
      child[name] = table.concat(parts)
      child.open = child.open - 1
      pipe:close()
    end)
  end }
  return pipe
end

-- Returns this process's environment, with the variables of a table added, as libuv takes it: "NAME=VALUE" each.
local function environment_with(more)
  local list = {}
  for name, value in pairs(uv.os_environ()) do
    if not more[name] then list[#list + 1] = name .. "=" .. value end
  end
  for name, value in pairs(more) do list[#list + 1] = name .. "=" .. value end
  table.sort(list)
  return list
end

--- Starts a program. Returns a child, or nil and a message.
--- job: { words, folder = where it runs (default: the current one), environment = variables to add to this process's,
--- gather = "output" to gather its output, or "all" to gather its errors too and give it its own process group }. Text
--- that is not gathered goes to this process's streams. A child that has ended has `over`, `code` (its exit status),
--- `signal` (the one that ended it, or 0), and the gathered text as `output` and `errors`.
function process.start(job)
  watch_signals()
  local child = { open = 1, pipes = {}, is_group = job.gather == "all" }
  local stdio = { 0, 1, 2 }
  if job.gather then stdio[2] = gather(child, "output") end
  if job.gather == "all" then stdio[1], stdio[3] = nil, gather(child, "errors") end
  io.stdout:flush()
  local arguments = table.move(job.words, 2, #job.words, 1, {})
  local handle
  handle, child.pid = uv.spawn(job.words[1], { args = arguments, cwd = job.folder, stdio = stdio,
    env = job.environment and environment_with(job.environment),
    detached = child.is_group }, function(code, signal)
    child.code, child.signal = code, signal
    child.open = child.open - 1
    running[child] = nil
    handle:close()
  end)
  if not handle then
    local pipes = {}
    for i, each in ipairs(child.pipes) do pipes[i] = each.pipe end
    finish(table.unpack(pipes)) -- without pipes, too: luv is closing the handle of the child
    return nil, (tostring(child.pid):gsub("^[A-Z0-9]+: ", ""))
  end
  running[child] = true
  for _, each in ipairs(child.pipes) do each.read() end
  return setmetatable(child, { __index = function(_, key) if key == "over" then return child.open == 0 end end })
end

--- Waits until `is_over()` is true. `tick` is called regularly meanwhile.
function process.wait(is_over, tick)
  local timer = uv.new_timer()
  timer:start(TICK_MS, TICK_MS, function() end)
  while not is_over() and not is_asked_to_end() do
    uv.run("once")
    if tick then tick() end
  end
  finish(timer)
  if is_asked_to_end() then raise_asked() end
end

--- Runs a program to its end. Takes the same job as process.start. Faults: io, if it cannot be started.
function process.run(job)
  local child, message = process.start(job)
  if not child then faults.raise("io", "cannot start %s: %s", job.words[1], message) end
  process.wait(function() return child.over end)
  return child
end

--- Raises a fault of the machine if a program that has ended has failed: `what`, and the line that says why. The
--- program's errors were gathered.
function process.check(child, what)
  if child.code == 0 and child.signal == 0 then return end
  local said = child.signal ~= 0 and ("it was ended by signal %d"):format(child.signal)
    or child.errors:match("[^\n]*error[^\n]*") or child.errors:match("[^\n]+") or "no message"
  faults.raise("machine", "%s: %s", what, said)
end

--- Runs a program of this machine to its end, and returns its output. words, environment: as in a job; what: see
--- process.check. Faults: io, machine.
function process.output(list, what, environment)
  local child = process.run { words = list, gather = "all", environment = environment }
  process.check(child, what)
  return child.output
end

--- Waits for a number of milliseconds, or until a signal.
function process.sleep(milliseconds)
  watch_signals()
  local timer, over = uv.new_timer(), false
  timer:start(milliseconds, 0, function() over = true end)
  while not over and not caught do uv.run("once") end
  finish(timer)
  if caught then raise_asked() end
end

--- Returns the path at which exec finds a program whose name has no /, or nil if there is none.
function process.find(name)
  for folder in (os.getenv("PATH") or "/usr/bin:/bin"):gmatch("[^:]+") do
    local path = folder .. "/" .. name
    if lfs.attributes(path, "mode") == "file" and uv.fs_access(path, "X") then return path end
  end
  return nil
end

--- Returns the number of jobs that can run at a time.
function process.processors() return math.max(1, uv.available_parallelism()) end

--- Returns the path of this machine's own compiler, for programs that run during a command. CC, CROSS and flags are for
--- models, which may be for another processor or C library. Faults: machine, if there is none.
function process.compiler()
  local path = process.find("cc") or process.find("gcc") or process.find("clang")
  return path or faults.raise("machine", "there is no compiler for this machine: cc, gcc or clang")
end

return process
