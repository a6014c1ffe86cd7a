-- faults.lua: how a pass refuses. A fault is a table with an exit code and lines of text;
-- it travels by error() to the command, which prints the lines and exits with the code.
-- Anything else that reaches the command is a defect of the compiler.
local faults = {}

faults.code = { mismatch = 1, usage = 2, format = 3, io = 4, memory = 5, machine = 6 }

local Fault = {}
Fault.__index = Fault

--- Raises a fault. `lines`: a string or a list of strings, each one line that names the place.
function faults.raise(kind, lines)
  if type(lines) == "string" then lines = { lines } end
  error(setmetatable({ code = assert(faults.code[kind], kind), lines = lines }, Fault), 0)
end

--- Whether a caught value is a fault.
function faults.is(value) return getmetatable(value) == Fault end

--- A string as it may stand in a message: quotes around it, control characters and length tamed.
function faults.quote(value)
  local text = tostring(value):gsub("[%c\128-\255]", "?")
  if #text > 60 then text = text:sub(1, 57) .. "..." end
  return '"' .. text .. '"'
end

return faults
