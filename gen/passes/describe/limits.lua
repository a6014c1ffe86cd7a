-- limits.lua: runs a description's text within limits of time, instructions and memory.
-- One budget covers a file and all overrides together.
--
-- A hook counts the instructions, but nothing interrupts the parser or one long instruction. So the parser gets its
-- text in small pieces, and the limits are checked between them. All that makes one instruction long is forbidden:
-- methods of strings (("x"):rep(1e9)), arithmetic on strings (which reads a number as long as the file), and
-- concatenation.
local lpeg = require("lpeg")
local P, S = lpeg.P, lpeg.S

local limits = {}

limits.SECONDS = 1.0 -- processor time; a description takes some thousandths
limits.INSTRUCTIONS = 1000000
limits.MEMORY = 16 << 10 -- KiB more than was in use before
local PIECE = 1024 -- bytes that the parser gets at a time; 0.05 s where each name is looked up in all possible scopes
local INTERVAL = 16 -- instructions between two checks of clock and memory
local TOO_LONG = ("takes more than %g s"):format(limits.SECONDS) -- made here: strings have no methods in a run

-- The end of a line ends a short string, too (an error of Lua itself), except after a backslash or \z.
local function short_string(quote)
  local escaped = "z" * S " \t\n\r\v\f" ^ 0 + P "\r\n" + "\n\r" + 1 + -P(1)
  return quote * ("\\" * escaped + (1 - S("\n\r\\" .. quote))) ^ 0 * (S("\n\r" .. quote) + -1)
end

-- A long string or comment.
local long = S "-[" * P(function(text, at)
  local level = text:match("^%[(=*)%[", at - 1) or text:match("^%-%-%[(=*)%[", at - 1)
  return level and (select(2, text:find("]" .. level .. "]", at, true)) or #text) + 1
end)
local comment = "--" * (1 - S "\n\r") ^ 0

-- Finds the position of a concatenation outside strings and comments.
local others = long + comment + short_string '"' + short_string "'" + "..." + (1 - P "..")
local concatenation = others ^ 0 * lpeg.Cp() * ".."

--- Returns a budget. Its time begins with this call, and its memory is counted from what is in use, garbage included.
function limits.budget()
  return { ends = os.clock() + limits.SECONDS, steps = 0, memory = collectgarbage("count") + limits.MEMORY }
end

-- Raises { limit = message } if the budget's time or memory is spent.
local function look(budget)
  if os.clock() > budget.ends then error({ limit = TOO_LONG }, 0) end
  if collectgarbage("count") > budget.memory then
    collectgarbage()
    if collectgarbage("count") > budget.memory then error({ limit = "takes more than 16 MiB of memory" }, 0) end
  end
end

-- Returns the failure of a chunk or the parser: { limit }, or whatever else was raised as a table, or { message }.
local function failure(value)
  if type(value) == "table" then return value end
  local message = tostring(value):gsub("\n.*", "")
  if message == "not enough memory" then error(message, 0) end -- not the description's fault
  if message:find("C stack overflow", 1, true) then
    return { limit = "nests deeper than 200 levels, the limit of a description" }
  end
  return { message = message }
end

-- Removes the methods from the strings' metatable until the returned value is closed, in whatever way that happens.
local function bare_strings()
  local methods, kept = debug.getmetatable(""), {}
  for key, value in pairs(methods) do kept[key] = value end
  for key in pairs(kept) do methods[key] = nil end
  return setmetatable({}, { __close = function() for key, value in pairs(kept) do methods[key] = value end end })
end

-- Loads a text in pieces. pcall makes nesting beyond the parser's stack an error like any other.
local function parse(budget, text, name, env)
  local at = 1
  local _, chunk, message = pcall(load, function()
    look(budget)
    at = at + PIECE
    return text:sub(at - PIECE, at - 1)
  end, "=" .. name, "t", env)
  return chunk, message
end

local function run(budget, chunk)
  local _ <close> = bare_strings()
  local routine = coroutine.create(chunk)
  debug.sethook(routine, function() -- called a million times: little is done in most calls
    local steps = budget.steps + 1
    budget.steps = steps
    if steps % INTERVAL == 0 then
      if steps > limits.INSTRUCTIONS then error({ limit = "does not end within 1,000,000 instructions" }, 0) end
      look(budget)
    end
  end, "", 1)
  local ok, result = coroutine.resume(routine)
  debug.sethook(routine)
  if ok and coroutine.status(routine) ~= "dead" then return false, "yields" end
  return ok, result
end

--- Runs a text with env as its globals; `name` names it in errors. Returns true and its first result, or false and
--- the failure: { limit = message }, { message = Lua's, with its place }, or the value that a function of env raised.
function limits.evaluate(budget, text, name, env)
  local at = concatenation:match(text)
  if at then
    local _, line = text:sub(1, at):gsub("\n", "")
    local message = "%s:%d: '..' is not allowed in a description: literals, arithmetic and constructors only"
    return false, { message = message:format(name, line + 1) }
  end
  local chunk, message = parse(budget, text, name, env)
  if not chunk then return false, failure(message) end
  local ok, result = run(budget, chunk)
  if not ok then return false, failure(result) end
  return true, result
end

return limits
