-- opened.lua: opens a tokenizer's tables once, as the built model does, so that bad ones are refused by the build.
-- Only the runtime knows if PCRE2 accepts a pattern, and the text that normalizing leaves of an added token. Its
-- message becomes a line about the tokenizer's file.
local emulator = require("common.emulator")
local faults = require("common.faults")
local process = require("common.process")

local opened = {}

-- Runs a program with its words. Returns its exit code and its output, or nil and the reason why it does not run here.
local function run(words)
  local ok, found = pcall(emulator.words, words)
  if not ok then
    if not faults.is(found) then error(found, 0) end
    return nil, found.lines[1]
  end
  local child, message = process.start { words = found, gather = "all" }
  if not child then return nil, message end
  process.wait(function() return child.over end)
  if child.signal ~= 0 then return nil, ("signal %d ended it"):format(child.signal) end
  return child.code, child.errors
end

--- Opens the tables in a file with the program that recipe.lua calls the opener. made: the state that the tables are
--- made from (tokenizer.compile); say(line): called if the program does not run on this machine. Faults: format, with a
--- line that names the tokenizer's file and the place in it; io and memory.
function opened.check(program, path, made, say)
  local code, said = run { program, path }
  if code == 0 then return end
  for _, kind in ipairs { "format", "io", "memory" } do
    if code == faults.code[kind] then faults.raise(kind, require("text.tokenizer").told(made, said:match("[^\n]*"))) end
  end
  say(("%s: its tables were not tested: %s"):format(made.file, code and "status " .. code or said))
end

return opened
