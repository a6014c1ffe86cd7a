-- modules.lua: says in one line why Lua stops: a signal, or this machine lacks a packaged module, memory or open files.
local faults = require("common.faults")

local modules = {}

-- Parts of Lua's and the dynamic linker's messages if there is no memory.
local NO_MEMORY = { "not enough memory", "failed to map segment", "annot allocate memory", "zero-fill pages" }

-- Debian's package of each module.
local packages = { argparse = "lua-argparse", dkjson = "lua-dkjson", lfs = "lua-filesystem", lpeg = "lua-lpeg",
  luv = "lua-luv", ["openssl.digest"] = "lua-luaossl", _openssl = "lua-luaossl" }

--- Returns the line and the exit code for an error's message that names a signal or what the machine lacks, else nil.
function modules.lack(message)
  for word, code in pairs { interrupted = 130, terminated = 143 } do -- the exit codes that shells expect
    if message:find(word .. "!", 1, true) then return word, code end
  end
  local name = message:match("module '([%w_.]+)' not found")
  if packages[name] then
    return ("the Lua module %s is not installed: it is in Debian's package %s"):format(name, packages[name]),
      faults.code.machine
  end
  for _, part in ipairs(NO_MEMORY) do
    if message:find(part, 1, true) then return "out of memory", faults.code.memory end
  end
  if message:find("Too many open files", 1, true) then return "too many open files", faults.code.io end
  local broken, reason = message:match("^error loading module '([%w_.]+)' from file '[^']*':%s*([^\n]+)")
  if not broken then return nil end
  return ("the Lua module %s cannot be loaded: %s"):format(broken, reason), faults.code.machine
end

return modules
