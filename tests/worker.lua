-- worker.lua: runs command lines of gen/attn2c one after the other in one process (helper.asked): to start the command
-- takes longer than to refuse a description. A request on the standard input is a number of words and the words; an
-- answer in the file REPLIES is the exit code, the seconds of a processor, the output and the errors.
--   lua5.4 tests/worker.lua REPLIES
local root = (debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or ".") .. "/.."
dofile(root .. "/gen/common/compiled.lua").start(((root .. "/gen"):gsub("/tests/%.%./", "/")))

local command = require("commands.command")


local function text() return io.read((string.unpack("<I4", io.read(4)))) or "" end

local function content(file)
  file:seek("set")
  local all = file:read("a")
  file:close()
  return all
end

local replies <close> = assert(io.open(arg[1], "wb"))
local own = io.output()
while true do
  local head = io.read(4)
  if not head then break end
  local words = {}
  for i = 1, string.unpack("<I4", head) do words[i] = text() end
  local output, errors, begin = io.tmpfile(), io.tmpfile(), os.clock()
  io.output(output)
  rawset(io, "stderr", errors)
  local code = command.main(root, words)
  io.output(own)
  replies:write(string.pack("<i4ds4s4", code, os.clock() - begin, content(output), content(errors)))
  replies:flush()
end
