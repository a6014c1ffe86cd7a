-- modules.lua: the Lua modules that other packages have, and what to say where one is not installed.
local modules = {}

-- Debian's package of each.
local packages = { argparse = "lua-argparse", dkjson = "lua-dkjson", lfs = "lua-filesystem", luv = "lua-luv",
  ["openssl.digest"] = "lua-luaossl", _openssl = "lua-luaossl" }

--- A line of an error's message, where that is that require has not found one of them; else nil.
function modules.missing(message)
  local name = message:match("module '([%w_.]+)' not found")
  if not packages[name] then return nil end
  return ("the Lua module %s is not installed: it is in Debian's package %s"):format(name, packages[name])
end

return modules
