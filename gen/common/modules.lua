-- modules.lua: names the packaged Lua modules that the compiler needs, and the advice if one is not installed.
local modules = {}

-- Debian's package of each module.
local packages = { argparse = "lua-argparse", dkjson = "lua-dkjson", lfs = "lua-filesystem", lpeg = "lua-lpeg",
  luv = "lua-luv", ["openssl.digest"] = "lua-luaossl", _openssl = "lua-luaossl" }

--- Returns advice to print if `message` says that a packaged module is missing, else nil.
function modules.missing(message)
  local name = message:match("module '([%w_.]+)' not found")
  if not packages[name] then return nil end
  return ("the Lua module %s is not installed: it is in Debian's package %s"):format(name, packages[name])
end

return modules
