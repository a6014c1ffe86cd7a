-- wheel.lua: makes a Python package of attn2c, for wheel.sh: lua5.4 gen/deploy/wheel.lua FOLDER DESTINATION.
-- FOLDER has attn2c/ with the files that install.sh puts there. DESTINATION is absolute.
local gen = arg[0]:match("^(.*)/deploy/[^/]*$") or error("call it by its path, gen/deploy/wheel.lua")
package.path = gen .. "/?.lua;" .. package.path
local archive = require("commands.wheel.archive")
local faults = require("common.faults")
local files = require("common.files")
local metadata = require("commands.wheel.metadata")
local version = require("common.version")

local folder, destination = arg[1], arg[2]
local TAG, TEXT = "py3-none-any", [[
# attn2c

A compiler that turns one transformer into C for exactly that model. It needs Lua 5.4 with its modules argparse, lfs,
dkjson, lpeg, luv and luaossl, and a C compiler, from the system's packages: `attn2c` names what is missing.

```
attn2c build FOLDER        # a checkpoint's folder from Hugging Face; writes to out/ in the working directory
```
]]

local function make()
  local information = ("attn2c-%s.dist-info"):format(version.generator)
  files.write_all(folder .. "/attn2c", {
    { name = "__init__.py", text = ('"""attn2c, a compiler from transformers to C."""\n__version__ = "%s"\n'):format(
      version.generator) },
    { name = "__main__.py", text = assert(files.read(gen .. "/deploy/launcher.py")) } })
  files.write_all(folder .. "/" .. information, {
    { name = "METADATA", text = metadata.text { name = "attn2c", version = version.generator, requires = {},
      summary = "A compiler from transformers to C", text = TEXT } },
    { name = "WHEEL", text = metadata.wheel(TAG) },
    { name = "entry_points.txt", text = metadata.entry_points("attn2c") } })
  files.write_all(folder .. "/" .. information .. "/licenses", {
    { name = "LICENSE", text = assert(files.read(gen .. "/../LICENSE")) } })
  archive.make(folder, information, ("%s/attn2c-%s-%s.whl"):format(destination, version.generator, TAG), {})
end

local done, fault = pcall(make)
if done then
  print(("out/wheel/attn2c-%s-%s.whl"):format(version.generator, TAG))
else
  io.stderr:write("make: ", faults.is(fault) and table.concat(fault.lines, "\n") or tostring(fault), "\n")
  os.exit(faults.is(fault) and fault.code or 70)
end
