-- facts.lua: keeps the measured facts of this machine in the user's cache, and measures them if they are not there. The
-- file's name is a hash of what is measured: the processor, its microcode, its instructions and the targets. So a home
-- that moves to another machine is measured again there. Only a complete file, JSON, of this machine is used.
local faults = require("common.faults")
local files = require("common.files")
local hash = require("common.hash")
local json = require("common.json")
local libuv = require("common.libuv")
local lfs = require("lfs")
local lock = require("common.lock")
local measure = require("commands.machine.measure")
local scratch = require("common.scratch")
local store = require("common.store")
local targets = require("data.targets")
local types = require("data.types")
local terminal = require("common.terminal")
local words = require("common.words")

local facts = {}

facts.FORMAT = 5

local MOST_BYTES = 1 << 16
local MOST_ROWS = 4096
local MOST_LOST = 0.1 -- share of a processor's time that other work may take

-- Seconds after which what other work has disturbed is measured again, by a build and by the command `machine`.
local OF_BUILD, OF_COMMAND = 60, 2
local LARGEST = 1e15

-- Fields of /proc/cpuinfo that identify a processor: of x86-64, and of aarch64.
local FIELDS = { "vendor_id", "cpu family", "model", "model name", "stepping", "microcode", "flags", "CPU implementer",
  "CPU variant", "CPU part", "CPU revision", "Features" }

--- Returns the processor's name, and a key of everything that is measured. info: the text of /proc/cpuinfo; names: the
--- measured targets.
function facts.identity(info, names)
  local first, found = info:match("^(.-)\n%s*\n") or info, {}
  for name, value in first:gmatch("([^\n]-)%s*:[ \t]*([^\n]*)") do found[name] = value end
  local parts = { tostring(facts.FORMAT), table.concat(names, " ") }
  for _, name in ipairs(FIELDS) do parts[#parts + 1] = found[name] or "" end
  local name = (found["model name"] or found["CPU part"] or ""):gsub("[^%w .()@+-]", ""):sub(1, 80)
  return name ~= "" and name or "unknown", hash.list(parts)
end

local function is_number(value) return math.type(value) ~= nil and value >= 0 and value <= LARGEST end

-- True if a table has a number for each of these keys.
local function has_numbers(of, ...)
  if type(of) ~= "table" then return false end
  for _, key in ipairs { ... } do if not is_number(of[key]) then return false end end
  return true
end

-- True if a target has all rates, or the text that says what the machine lacks.
local function is_target(each)
  if type(each) ~= "table" then return false end
  if each.missing ~= nil then return type(each.missing) == "string" end
  local function is_in(value, most)
    return value == nil or math.type(value) == "integer" and value > 0 and value <= most
  end
  return words.all(types.of_weights, function(type)
    return (is_number(each[type.word]) or each[type.word] == "wrong")
      and is_in(each[type.word .. "_ahead"], MOST_BYTES) and is_in(each[type.word .. "_least"], MOST_ROWS)
  end) and is_in(each[targets.SCALED .. "_least"], MOST_ROWS)
end

--- Returns the measured values of a text that measure.run gives: { targets = name -> { f32, bf16, int8: 10^9 operations
--- a second, or "wrong"; bf16_ahead, int8_ahead: bytes ahead that strips prefetch; bf16_least, int8_least,
--- scaled_least: the least rows of a strip that prefetches (ahead.lua); nil: the rule's }
--- or { missing = text }; levels = { { number (0: memory), bytes, gigabytes, nanoseconds } };
--- cores; all_cores: GB/s that all read from memory; lost: the share of a processor's time that other work took;
--- seconds: the time that measuring took }. Returns nil if a part is
--- missing or out of range.
function facts.checked(value)
  if not has_numbers(value, "cores", "all_cores", "lost", "seconds") then return nil end
  if type(value.targets) ~= "table" or type(value.levels) ~= "table" then return nil end
  for name, each in pairs(value.targets) do
    if not targets.by_name[name] or not is_target(each) then return nil end
  end
  for _, level in pairs(value.levels) do
    if not has_numbers(level, "number", "bytes", "gigabytes", "nanoseconds") then return nil end
  end
  return next(value.targets) and #value.levels > 0 and value or nil
end

--- Returns a clause if other work has disturbed the facts, else nil.
function facts.disturbed(value)
  return value.lost > MOST_LOST and ("disturbed by other work, which took %.0f%% of a processor's time"):format(
    100 * value.lost) or nil
end

--- Returns the facts of a file's text, or nil if it is damaged or of another machine.
function facts.parse(text, key)
  local value = json.decode(text)
  if type(value) ~= "table" or value.format ~= facts.FORMAT or value.key ~= key then return nil end
  return facts.checked(value.facts)
end

function facts.text(key, processor, measured)
  return ('{"format": %d,\n"key": "%s",\n"processor": "%s",\n"facts": %s}\n'):format(facts.FORMAT, key, processor,
    (measured:gsub("\n$", "")))
end

-- Returns what the source and the cache have in common: { processor, key, machine, from: the folder whose facts may be
-- believed, or nil; folder: the same if it can be written, or nil; reason }.
local function place(environment)
  local machine = libuv.os_uname().machine
  local names = measure.names(machine)
  local processor, key = facts.identity(files.read_some("/proc/cpuinfo", MOST_BYTES) or "", names)
  local location = store.location(environment)
  local folder, reason = nil, "neither XDG_CACHE_HOME nor HOME is an absolute path"
  for _, path in ipairs(location and { location, location .. "/machine" } or {}) do
    folder, reason = store.private_folder(path)
    if not folder then
      reason = path .. " " .. (reason == "is not there" and "cannot be made" or reason)
      break
    end
  end
  local from = location and location .. "/machine"
  local is_own = from and store.is_private(location) and store.is_private(from)
  return { processor = processor, key = key, machine = machine, folder = folder, from = is_own and from or nil,
    reason = reason }
end

-- Returns the facts that the cache has, or nil; and true if they are to be measured again: `again`, or other work has
-- disturbed them some time ago.
local function find(at, again)
  local path = at.from and ("%s/%s.json"):format(at.from, at.key)
  local text = path and files.read_some(path, MOST_BYTES)
  local known = text and facts.parse(text, at.key) or nil
  local is_due = known and facts.disturbed(known) and os.time() - (lfs.attributes(path, "modification") or 0)
    >= (again == "disturbed" and OF_COMMAND or OF_BUILD)
  return known, again == true or is_due
end

-- Measures. Returns the facts and the text of their file.
local function measured(root, at, folder, run)
  local text = run(root, at.machine, folder)
  local value = facts.checked(json.decode(text))
  if not value then faults.raise("machine", "its program printed no facts") end
  return value, facts.text(at.key, at.processor, text)
end

-- Measures, and keeps the facts unless another process has done so meanwhile.
local function measure_and_keep(root, at, again, say, run)
  local before = find(at)
  local function wait() if not before then say("another process measures this machine: waiting for its end") end end
  return lock.hold(at.folder, wait, function()
    local known, is_due = find(at, again)
    if known and not is_due then return known, false end
    local value, text = measured(root, at, at.folder, run)
    local ok, fault = pcall(files.write_all, at.folder, { { name = at.key .. ".json", text = text } })
    if not ok then
      if not faults.is(fault) then error(fault, 0) end
      say("the facts of this machine are not kept: " .. fault.lines[1])
    end
    return value, not before
  end)
end

--- Returns the facts, the processor's name, and true if they were measured for the first time. again: true measures
--- even if they are known, "disturbed" soon after other work has disturbed them, else later. say(line): takes lines for
--- the user. environment, run: replace os.getenv and measure.run in tests. Faults: machine, if this machine cannot be
--- measured; io.
function facts.get(root, again, say, environment, run)
  local at = place(environment or os.getenv)
  local known, is_due = find(at, again)
  if known and not is_due then return known, at.processor, false end
  run = run or measure.run
  if at.folder then
    local value, is_new = measure_and_keep(root, at, again, say, run)
    return value, at.processor, is_new
  end
  say("the facts of this machine are not kept: " .. at.reason)
  local temporary = ("%s/attn2c-%d"):format(scratch.top(environment or os.getenv), libuv.getuid())
  local folder, reason = store.private_folder(temporary)
  if not folder then faults.raise("io", "cannot use %s, which %s", temporary, reason) end
  local value = measured(root, at, folder, run)
  lfs.rmdir(folder) -- stays if another process measures there
  return value, at.processor, true
end

--- Returns a function for pipeline.run (wanted.rates), which measures this machine when it is first called. Its lines
--- for the user go to standard error. If the machine cannot be measured, it returns nil, and says so.
function facts.source(root, environment, run, say)
  say = say or function(line) io.stderr:write("attn2c: ", terminal.safe(line), "\n") end
  local asked, result = false, nil
  return function()
    if asked then return result end
    asked = true
    local ok, value, _, is_new = pcall(facts.get, root, false, say, environment, run)
    if ok then
      result = value.targets
      if is_new then
        local disturbed = facts.disturbed(value)
        say(("measured this machine in %.1f s%s; `attn2c machine` prints the facts"):format(value.seconds,
          disturbed and ", " .. disturbed or ""))
      end
    elseif faults.is(value) then
      say("this machine was not measured: " .. value.lines[1])
    else
      error(value, 0)
    end
    return result
  end
end

return facts
