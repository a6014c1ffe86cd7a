-- cases.lua: packed cases of the oracle (given.py says what lies in one): unpacked, built side by
-- side, run, and compared with what the definition said. The spec and `make oracle` share it.
--
--   lua5.4 tests/oracle/cases.lua FOLDER OUT     checks all cases of a folder; exit 1 where one differs
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
package.path = here .. "/../../gen/?.lua;" .. package.path

local files = require("common.files")
local lfs = require("lfs")

local cases = {}

local built = dofile(here .. "/../cases.lua")
local shell = dofile(here .. "/../quote.lua")

-- A part of the largest value of an output, or of 1 if that is less.
local TOLERANCE = 1e-5

local formats = { F32 = { "<f4", "<f" }, I32 = { "<i4", "<i4" }, BOOL = { "|b1", "B" } }
local formats_of_npy = { ["<f4"] = "<f", ["<i4"] = "<i4", ["|b1"] = "B" }

--- The names of a folder's cases, sorted.
function cases.list(folder)
  local list = {}
  for file in lfs.dir(folder) do list[#list + 1] = file:match("^(.*)%.safetensors$") end
  table.sort(list)
  assert(#list > 0, "no cases in " .. folder)
  return list
end

--- A packed case: description (text), arrays = name -> { name, dtype, shape (text), bytes }, order: the same
--- in a list.
function cases.read(path)
  local raw = assert(files.read(path), path)
  local length = string.unpack("<I8", raw)
  local header = raw:sub(9, 8 + length)
  local case = { arrays = {}, order = {} }
  local text = header:match('"description":"(.-[^\\])"}')
  case.description = text:gsub("\\(.)", function(letter) return letter == "n" and "\n" or letter end)
  for name, dtype, shape, first, stop in
    header:gmatch('"([^"]+)":{"dtype":"(%w+)","shape":%[([%d, ]*)%],"data_offsets":%[(%d+), ?(%d+)%]}') do
    local array = { name = name, dtype = dtype, shape = shape }
    array.bytes = raw:sub(9 + length + math.tointeger(first), 8 + length + math.tointeger(stop))
    case.arrays[name] = array
    case.order[#case.order + 1] = array
  end
  return case
end

-- The bytes of an array as a .npy file.
local function npy(array)
  local shape = array.shape:find(",") and array.shape or array.shape .. ","
  local header = ("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }"):format(formats[array.dtype][1], shape)
  header = header .. (" "):rep(-(#header + 11) % 64) .. "\n"
  return "\147NUMPY\1\0" .. string.pack("<I2", #header) .. header .. array.bytes
end

-- An array of a .npy file: shape as text, bytes, and how an element is unpacked.
local function read_npy(path)
  local raw = assert(files.read(path), path)
  local length = string.unpack("<I2", raw, 9)
  local header = raw:sub(11, 10 + length)
  local shape = header:match("'shape': %((.-)%)"):gsub("[ ]", ""):gsub(",$", "")
  return { shape = shape, bytes = raw:sub(11 + length), format = formats_of_npy[header:match("'descr': '(.-)'")] }
end

--- Writes a case's files into a folder: the description, weights, inputs.
function cases.write(case, folder)
  local list, tensors, data = { { name = "description.lua", text = case.description } }, {}, {}
  local bytes = 0
  for _, array in ipairs(case.order) do
    local input = array.name:match("^input/(.*)$")
    if input then
      list[#list + 1] = { name = input .. ".npy", text = npy(array) }
    elseif not array.name:find("^expected/") then
      tensors[#tensors + 1] = ('"%s":{"dtype":"F32","shape":[%s],"data_offsets":[%d,%d]}'):format(array.name,
        array.shape, bytes, bytes + #array.bytes)
      data[#data + 1], bytes = array.bytes, bytes + #array.bytes
    end
  end
  local header = "{" .. table.concat(tensors, ",") .. "}"
  if #tensors > 0 then
    list[#list + 1] = { name = "model.safetensors", text = string.pack("<I8", #header) .. header .. table.concat(data) }
  end
  files.make_folder(folder)
  files.write_all(folder, list)
end

--- Unpacks and builds the cases of a folder under `out`.
function cases.build(folder, out, names)
  local list = {}
  for i, name in ipairs(names) do
    local case, place = cases.read(("%s/%s.safetensors"):format(folder, name)), out .. "/" .. name
    cases.write(case, place)
    list[i] = { name = name, text = case.description, path = place .. "/description.lua" }
  end
  files.make_folder(out .. "/built")
  built.build(out .. "/built", list)
end

--- Returns the fault of an output, or nil.
function cases.difference(expected, got)
  local shape = expected.shape:gsub(" ", "")
  if shape ~= got.shape then return ("shape %s, but %s was expected"):format(got.shape, shape) end
  local format, count = formats[expected.dtype][2], #expected.bytes // 4
  if format ~= got.format or #got.bytes ~= #expected.bytes then return "of another type" end
  local largest, worst, at = 1.0, 0.0, nil
  for i = 1, count do
    local a, b = string.unpack(format, expected.bytes, 4 * i - 3), string.unpack(format, got.bytes, 4 * i - 3)
    if math.abs(a) < math.huge then largest = math.max(largest, math.abs(a)) end
    local same = a == b or (a ~= a and b ~= b)
    local apart = same and 0 or math.abs(a - b)
    if apart ~= apart or format ~= "<f" and not same then apart = math.huge end
    if apart > worst then worst, at = apart, ("%g at %d of %d, but %g was expected"):format(b, i - 1, count, a) end
  end
  return worst > TOLERANCE * largest and at or nil
end

--- Runs a built case; returns what is wrong with it, or nil.
function cases.check(folder, out, name)
  local case, place = cases.read(("%s/%s.safetensors"):format(folder, name)), out .. "/" .. name
  local command, said_of_build = built.command(out .. "/built", name)
  if not command then return "not built: " .. said_of_build end
  local parts, outputs = { "cd", shell(place), "&&", command }, {}
  if files.read(place .. "/model.safetensors") then parts[#parts + 1] = "--weights model.safetensors" end
  for _, array in ipairs(case.order) do
    local kind, member = array.name:match("^(%w+)/(.*)$")
    if kind == "input" then parts[#parts + 1] = ("--input %s=%s.npy"):format(member, member) end
    if kind == "expected" then
      outputs[#outputs + 1] = member
      parts[#parts + 1] = ("--output %s=got_%s.npy"):format(member, member)
    end
  end
  local handle = assert(io.popen(table.concat(parts, " ") .. " 2>&1"))
  local said = handle:read("a")
  if not handle:close() then return "does not run: " .. said end
  for _, member in ipairs(outputs) do
    local got = read_npy(("%s/got_%s.npy"):format(place, member))
    local wrong = cases.difference(case.arrays["expected/" .. member], got)
    if wrong then return ("%s: %s\n%s"):format(member, wrong, case.description) end
  end
  return nil
end

local function absolute(path)
  local handle = assert(io.popen("cd " .. shell(path) .. " && pwd -P"))
  local result = handle:read("l")
  handle:close()
  return result
end

cases.root = absolute(here .. "/../..")
cases.folder = cases.root .. "/tests/oracle/cases"

if arg and arg[0] and arg[0]:match("cases%.lua$") then
  local folder, out = absolute(arg[1]), arg[2]
  files.make_folder(out)
  out = absolute(out)
  local names, wrong = cases.list(folder), 0
  cases.build(folder, out, names)
  for _, name in ipairs(names) do
    local fault = cases.check(folder, out, name)
    if fault then
      wrong = wrong + 1
      print(("%s: %s"):format(name, fault))
    end
  end
  print(("%d cases, %d differ"):format(#names, wrong))
  os.exit(wrong == 0)
end

return cases
