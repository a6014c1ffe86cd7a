-- faults.lua: raises faults, with which the compiler refuses bad input. A fault is a table with an exit code and lines
-- of text. error() carries it to the command, which prints the lines and exits with the code. Any other error that
-- reaches the command is a defect of the compiler.
local terminal = require("common.terminal")

local faults = {}

faults.code = { mismatch = 1, usage = 2, format = 3, io = 4, memory = 5, machine = 6 }

local Fault = {}
Fault.__index = Fault

--- Returns a line of a fault. text: a format if values follow, else the line.
function faults.line(text, ...) return select("#", ...) > 0 and text:format(...) or text end

--- Raises a fault. `lines`: a list of strings, each one line that names the place; or one, as of faults.line. They are
--- made safe for a terminal here, because they may quote a user's text. So no pass needs to do it.
function faults.raise(kind, lines, ...)
  if type(lines) == "string" then lines = { faults.line(lines, ...) } end
  local safe = {}
  for i, line in ipairs(lines) do safe[i] = terminal.safe(line) end
  error(setmetatable({ code = assert(faults.code[kind], kind), lines = safe }, Fault), 0)
end

--- Raises the fault of a model's program that ended with an exit code. The program has already printed the reason.
function faults.pass_on(path, code)
  for kind, number in pairs(faults.code) do
    if number == code then faults.raise(kind, {}) end
  end
  faults.raise("machine", "%s ended with %d", path, code)
end

function faults.is(value) return getmetatable(value) == Fault end

--- Returns a string in quotes for a message. A long string is cut.
function faults.quote(value) return '"' .. terminal.short(value, 60) .. '"' end

return faults
