-- serving.lua: for specs of programs that serve: starts one on a free port, sends requests by curl, ends it.
local helper = require("tests.spec.helper")
local dkjson = require("dkjson")

local serving = {}

local shell = helper.shell

local function output_of(command)
  local handle = assert(io.popen(command))
  local text = handle:read("a")
  handle:close()
  return text
end

-- A server: { address, pid, log }.
local Server = {}
Server.__index = Server

--- Starts a command line of `serve` in a folder. It ends after some seconds at the latest (default: two minutes). A
--- signal reaches it once: without --foreground, `timeout` sends it twice.
function serving.start(folder, line, options, seconds)
  local log = helper.folder() .. "/log"
  local command = ("cd %s && { timeout --foreground -k 5 %d %s %s >%s.out 2>%s & echo $!; }")
    :format(shell(folder), seconds or 120, line, options or "--port 0", log, log)
  local pid = output_of(("bash -c %s"):format(shell(command))):match("%d+")
  local address
  for _ = 1, 200 do
    local file = io.open(log .. ".out")
    address = file and file:read("a"):match(" at (%S+)\n")
    if file then file:close() end
    if address or not os.execute("kill -0 " .. pid .. " 2>/dev/null") then break end
    os.execute("sleep 0.05")
  end
  local server = setmetatable({ address = address, pid = pid, log = log }, Server)
  if not address then error("no server: " .. server:said(), 2) end
  return server
end

--- Returns what it has written on the standard error.
function Server:said() return helper.read(self.log) end

--- Returns the log once it has a text, or after 20 seconds: a request's line is written after its answer.
function Server:said_of(text)
  for _ = 1, 400 do
    if self:said():find(text, 1, true) then break end
    helper.run("sleep 0.05")
  end
  return self:said()
end

--- Ends it by SIGTERM, and gives `look` what it has written on the standard error.
function Server:stop(look)
  if not self.pid then return end
  os.execute(("kill %s 2>/dev/null; while kill -0 %s 2>/dev/null; do sleep 0.02; done"):format(self.pid, self.pid))
  self.pid = nil
  if look then look(self:said()) end
  os.remove(self.log .. ".out")
  os.remove(self.log)
end

-- Returns the words of curl for a request. body: a value for JSON, or a text.
function Server:curl(path, body, more)
  local host = self.address:match("^unix:(.*)")
  local words = { "curl -s --max-time 60", more or "" }
  if host then words[#words + 1] = "--unix-socket " .. shell(host) end
  if body then
    local text = type(body) == "table" and dkjson.encode(body) or body
    words[#words + 1] = "-H 'Content-Type: application/json' --data-binary " .. shell(text)
  end
  words[#words + 1] = shell((host and "http://localhost" or self.address) .. path)
  return table.concat(words, " ")
end

--- Sends a request. Returns status, body as a value (or as text, if it is no JSON), and text.
function Server:ask(path, body, more)
  local text = output_of(self:curl(path, body, (more or "") .. " -w '\n%{http_code}'"))
  local said, status = text:match("^(.*)\n(%d+)$")
  return tonumber(status), dkjson.decode(said or "") or said, said
end

--- Sends requests at once: a list of { path, body }. Returns their texts in order.
function Server:ask_all(list)
  local words, names = {}, {}
  for i, each in ipairs(list) do
    names[i] = os.tmpname()
    words[i] = self:curl(each[1], each[2], "-o " .. names[i]) .. " &"
  end
  os.execute("bash -c " .. shell(table.concat(words, "\n") .. "\nwait"))
  local texts = {}
  for i, name in ipairs(names) do
    texts[i] = helper.read(name)
    os.remove(name)
  end
  return texts
end

return serving
