-- say.lua: runs commands in a folder, for specs of programs that answer texts.
local files = require("common.files")
local helper = require("tests.spec.helper")

local say = {}

local function lines_of(text)
  local list = {}
  for line in text:gmatch("([^\n]*)\n") do list[#list + 1] = line end
  return list
end

-- Returns the numbers of an .npy file of float32 or int32, and its shape as text.
local function npy(path)
  local text = helper.read(path)
  local at = 11 + string.unpack("<I2", text, 9)
  local header = text:sub(1, at)
  local form, shape = assert(header:match("'<([fi]4)'"), path), header:match("'shape': %(([^)]*)%)")
  local list, count = {}, 1
  for size in shape:gmatch("%d+") do count = count * tonumber(size) end
  for i = 1, count do list[i] = string.unpack(form == "f4" and "<f" or "<i4", text, at + 4 * (i - 1)) end
  return list, shape
end

--- Returns functions for a folder: run(command) -> exit code, text; sh(command) -> text, an error if the command fails;
--- output_of(command) -> only its standard output; lines_of(text); npy(path) -> numbers, shape.
function say.of(folder)
  local shell = helper.shell
  local function run(command)
    files.make_folder(folder)
    files.write_all(folder, { { name = "command.sh", text = command .. "\n" } })
    local handle = assert(io.popen(("cd %s && bash command.sh 2>&1"):format(shell(folder))))
    local said = handle:read("a")
    local _, how, code = handle:close()
    return how == "signal" and 128 + code or code, said
  end
  local function sh(command)
    local code, said = run(command)
    if code ~= 0 then error(("%s\nexit %d:\n%s"):format(command, code, said:sub(-4000)), 2) end
    return said
  end
  local function output_of(command)
    sh("{ " .. command .. "; } >said.txt 2>notes.txt")
    return helper.read(folder .. "/said.txt")
  end
  return { run = run, sh = sh, output_of = output_of, lines_of = lines_of, npy = npy }
end

return say
