-- describe: file -> plain table. Runs the description in an environment of literals,
-- arithmetic and the constructors, within limits of instructions and memory, then applies
-- the KEY=VALUE overrides of the command line. It decides nothing.
--
-- Before: state.file, state.overrides.  After: state.text, state.description.
local dump = require("dump")
local faults = require("faults")
local stages = require("stages")
local words = require("words")

local describe = {}

local LARGEST_FILE = 1 << 20 -- bytes
local MOST_INSTRUCTIONS = 1000000
local MOST_MEMORY = 16 << 10 -- KiB above what was in use before

local function constructors()
  local env = {}
  local function define(name, stage)
    env[name] = function(argument)
      local fields = { stage = name }
      if type(argument) == "table" then
        for key, value in next, argument do fields[key] = value end
        fields.stage = name
      elseif argument ~= nil then
        fields[stage and stage.word or 1] = argument
      end
      return fields
    end
  end
  for name, stage in pairs(stages.constructors) do define(name, stage) end
  env.huge, env.pi = math.huge, math.pi
  return env
end

-- Where the text goes on behind the short string that begins at `at`. A line's end ends it as well (that is an error
-- of Lua's own), but not one that a backslash or \z takes along.
local function after_string(text, at)
  local quote = text:sub(at, at)
  at = at + 1
  while at <= #text do
    local c = text:sub(at, at)
    if c == "\\" then
      at = text:match("^z%s*()", at + 1) or text:match("^\r\n()", at + 1) or text:match("^\n\r()", at + 1) or at + 2
    elseif c == quote or c == "\n" or c == "\r" then
      return at + 1
    else
      at = at + 1
    end
  end
  return at
end

-- The two dots of a concatenation, outside strings and comments, or nil. One instruction can concatenate 250 strings:
-- no limit that is checked between instructions would hold it, and a description has no need of it.
local function finds_concatenation(text)
  local at = 1
  while at <= #text do
    local long = text:match("^%-?%-?%[(=*)%[", at)
    local c = text:sub(at, at)
    if long and (c == "[" or text:sub(at, at + 1) == "--") then
      local _, last = text:find("]" .. long .. "]", at, true)
      at = (last or #text) + 1
    elseif text:sub(at, at + 1) == "--" then
      at = (text:find("[\n\r]", at) or #text) + 1
    elseif c == '"' or c == "'" then
      at = after_string(text, at)
    elseif text:sub(at, at + 2) == "..." then
      at = at + 3
    elseif text:sub(at, at + 1) == ".." then
      return at
    else
      at = at + 1
    end
  end
  return nil
end

-- Runs a chunk under the limits. Returns true and its first result, or false and a message.
local function run_limited(chunk)
  local strings = debug.getmetatable("")
  local methods = strings.__index
  strings.__index = nil -- ("x"):rep(1e9) is one instruction too
  local before = collectgarbage("count")
  local steps = 0
  local function watch()
    steps = steps + 1
    if steps > MOST_INSTRUCTIONS then
      error({ limit = "does not end within 1,000,000 instructions" }, 0)
    end
    if steps % 16 == 0 and collectgarbage("count") - before > MOST_MEMORY then
      collectgarbage()
      if collectgarbage("count") - before > MOST_MEMORY then
        error({ limit = "takes more than 16 MiB of memory" }, 0)
      end
    end
  end
  local routine = coroutine.create(chunk)
  debug.sethook(routine, watch, "", 1)
  local ok, result = coroutine.resume(routine)
  debug.sethook(routine)
  strings.__index = methods
  if ok and coroutine.status(routine) ~= "dead" then return false, "yields" end
  if not ok and type(result) == "table" then return false, rawget(result, "limit") or "fails" end
  if not ok then return false, (tostring(result):gsub("\n.*", "")) end
  return true, result
end

local function evaluate(text, chunk_name)
  local at = finds_concatenation(text)
  if at then
    local _, line = text:sub(1, at):gsub("\n", "")
    return false,
      (":%d: '..' is not allowed in a description: literals, arithmetic and constructors only"):format(line + 1)
  end
  -- Through pcall, so that nesting beyond the parser's stack is a message like any other and no error of ours.
  local _, chunk, message = pcall(load, text, "=" .. chunk_name, "t", constructors())
  if not chunk then
    message = tostring(message):gsub("[%c\128-\255]", "?")
    if message:find("C stack overflow", 1, true) then
      message = "nests deeper than 200 levels, which no description does"
    end
    return false, message
  end
  return run_limited(chunk)
end

-- "file:3: message" and "[string...]" prefixes become ours.
local function place(file, message)
  local rest = message:sub(1, 1 + #"description") == "description:" and message:sub(1 + #"description") or nil
  if message:sub(1, 1) == ":" then rest = message end
  if rest then return file .. rest end
  return file .. ": " .. message
end

local function read(file)
  local handle, message = io.open(file, "rb")
  if not handle then faults.raise("io", "cannot read " .. message:gsub("[%c]", "?")) end
  local text, failure = handle:read(LARGEST_FILE + 1)
  handle:close()
  if failure then faults.raise("io", ("cannot read %s: %s"):format(file:gsub("%c", "?"), failure)) end
  text = text or ""
  if #text > LARGEST_FILE then
    faults.raise("usage", file .. ": larger than 1 MiB, which no description is")
  end
  return text
end

local keywords = words.set { "true", "false", "nil" }

local function parse_value(argument, text)
  if text:match("^[%a_][%w_]*$") and not keywords[text] then return text end
  local ok, value = evaluate("return (" .. text .. "\n)", "value")
  if not ok then
    faults.raise("usage", ("%s: the value is neither a Lua literal nor a bare word"):format(faults.quote(argument)))
  end
  return value
end

-- output.4.to=10 on { output = { ..., { stage = "linear", to = 600 } } }
local function override(description, argument)
  local path, text = argument:match("^([%w_.]+)=(.*)$")
  if not path or path:find("..", 1, true) or path:match("^%.") or path:match("%.$") then
    faults.raise("usage",
      ("%s: an override is KEY=VALUE, with dots between nested keys"):format(faults.quote(argument)))
  end
  local value = parse_value(argument, text)
  local keys = {}
  for key in path:gmatch("[^.]+") do keys[#keys + 1] = math.tointeger(tonumber(key)) or key end
  local holder = description
  for i = 1, #keys - 1 do
    local inner = holder[keys[i]]
    if inner == nil then
      inner = {}
      holder[keys[i]] = inner
    end
    if type(inner) ~= "table" then
      faults.raise("usage", ("%s: %s is a %s and has no keys"):format(faults.quote(argument),
        table.concat(keys, ".", 1, i), type(inner)))
    end
    holder = inner
  end
  holder[keys[#keys]] = value
end

--- Faults: io where the file cannot be read; usage for everything that the text itself does wrong.
function describe.run(state)
  local file = state.file
  local shown = file:gsub("[%c]", "?")
  state.text = read(file)
  if state.text:sub(1, 1) == "\27" then
    faults.raise("usage", shown .. ": compiled Lua is not accepted, only text")
  end
  local ok, result = evaluate(state.text, "description")
  if not ok then faults.raise("usage", place(shown, result)) end
  if type(result) ~= "table" then
    faults.raise("usage", ("%s: a description returns a table, this one returned %s"):format(shown,
      result == nil and "nothing" or "a " .. type(result)))
  end
  state.description = result
  for _, argument in ipairs(state.overrides) do override(result, argument) end
end

--- The plain table, keys sorted.
function describe.dump(state) return dump.table(state.description) end

return describe
