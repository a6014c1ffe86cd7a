-- compile.lua: the tables of a golden: lua5.4 tests/text/compile.lua NAME FOLDER writes FOLDER/NAME.json, .tables,
-- .cases and texts; NAME may be the path of a tokenizer.json, of which it writes only .tables. A damaged
-- tokenizer.json is refused in one line a fault, with the status of a malformed file.
local here = arg[0]:match("^(.*)/[^/]*$") or "."
package.path = here .. "/../../gen/?.lua;" .. package.path
local faults = require("common.faults")
local files = require("common.files")
local quote = dofile(here .. "/../quote.lua")
local from_text = dofile(here .. "/from_text.lua")

local function unpacked(name)
  local handle = assert(io.popen("gzip -dc " .. quote(here .. "/goldens/" .. name .. ".gz")))
  local bytes = handle:read("a")
  assert(handle:close())
  return bytes
end

local function golden(name)
  local text = unpacked(name .. ".json")
  return { { name = name .. ".json", text = text },
    { name = name .. ".tables", text = (from_text(text, name .. ".json")) },
    { name = name .. ".cases", text = unpacked(name .. ".cases") }, { name = "texts", text = unpacked("texts") } }
end

local function own(path)
  local name = path:match("([^/]*)%.json$")
  return { { name = name .. ".tables", text = (from_text(assert(files.read(path)), path)) } }
end

local name, folder = arg[1], arg[2]
local ok, value = pcall(function()
  files.write_all(folder, name:find("%.json$") and own(name) or golden(name))
end)
if not ok then
  if not faults.is(value) then error(value, 0) end
  io.stderr:write(table.concat(value.lines, "\n"), "\n")
  os.exit(value.code)
end
