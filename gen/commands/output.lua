-- output.lua: the standard output of the command. A write that fails ends it with the exit code of input and output.
local faults = require("common.faults")
local terminal = require("common.terminal")

local output = {}

--- Returns the exit code after the standard output has been flushed.
function output.flushed(code)
  if io.stdout:flush() then return code end
  io.stderr:write("attn2c: cannot write to the standard output\n")
  return faults.code.io
end

--- Prints a text. Faults: io, because the last flush would not notice a write that has failed.
function output.print(text)
  if not io.write(terminal.lines(text)) then faults.raise("io", "cannot write to the standard output") end
end

--- Prints a text and a line's end, and ends the command.
function output.print_and_leave(text)
  local written = io.write(text, "\n")
  os.exit(written and output.flushed(0) or faults.code.io, true)
end

return output
