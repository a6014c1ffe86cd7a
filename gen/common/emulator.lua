-- emulator.lua: finds the words that start a built program, under qemu-user if it is for another processor, and under
-- wine if it is for Windows.
-- Without the emulator exec would refuse such a program, and libuv would then hand it to a shell.
local faults = require("common.faults")
local files = require("common.files")
local lfs = require("lfs")
local process = require("common.process")
local uv = require("common.libuv")

local emulator = {}

-- Processors by their number in an ELF header (e_machine), as uname and qemu call them.
local MACHINES = { [62] = "x86_64", [183] = "aarch64", [243] = "riscv64" }

-- Returns the processor that a program is for, or "Windows". Returns nil if the file does not say it, if the processor
-- is not in the table, or if the name has no / (exec looks for it in PATH).
local function machine_of(path)
  if not path:find("/", 1, true) then return nil end
  local head = files.read_some(path, 20) or ""
  if head:sub(1, 2) == "MZ" then return "Windows" end
  if #head < 20 or head:sub(1, 4) ~= "\x7fELF" then return nil end
  return MACHINES[string.unpack("<I2", head, 19)]
end

--- Returns the words that start the program list[1], a path or a name in PATH, with the words after it. find: replaces
--- process.find in tests. Faults: machine, if the program is for another machine and there is no emulator.
function emulator.words(list, find)
  local machine = machine_of(list[1])
  if not machine or machine == uv.os_uname().machine then return list end
  local name, package = "qemu-" .. machine, "qemu-user"
  if machine == "Windows" then name, package = "wine", "wine" end
  local words = { (find or process.find)(name) or (find or process.find)(name .. "-static") }
  if not words[1] then
    faults.raise("machine", "%s: is for %s, which this machine does not run; %s does, of Debian's package %s", list[1],
      machine, name, package)
  end
  local libraries = ("/usr/%s-linux-gnu"):format(machine) -- of Debian's cross compilers
  if lfs.attributes(libraries, "mode") == "directory" then table.move({ "-L", libraries }, 1, 2, 2, words) end
  return table.move(list, 1, #list, #words + 1, words)
end

return emulator
