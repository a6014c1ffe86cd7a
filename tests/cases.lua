-- cases.lua: builds many small models in parallel, one a core, and gives the commands that run them. Most are built
-- as a shared library alone, which a common program opens (c/run_library.c): a program for each would take a third of a
-- case's time.
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."

local files = require("common.files")
local libuv = require("common.libuv")
local lfs = require("lfs")
local shell = dofile(here .. "/quote.lua")
local version = require("common.version")

local cases = {}

local ARCHIVE = "libattn2c_c.a"

-- Returns the cases that are built as programs: each word of the descriptions (a key, an option) is in one of them.
local function programs(list)
  local seen, chosen = {}, {}
  for _, case in ipairs(list) do
    local text = case.text:gsub("%-%-[^\n]*", ""):gsub('name = "[^"]*"', "")
    for word in text:gmatch("[%a_][%w_]*") do
      if not seen[word] then seen[word], chosen[case.name] = true, true end
    end
  end
  return chosen
end

local function file_of(name, is_program) return is_program and name or ("lib%s.so.%d"):format(name, version.abi) end

--- Builds cases in a folder, each into NAME/, with the output of the build in NAME.log. If a case does not build, its
--- folder is removed. list: { name, text: the description, path: its file }, at least one.
function cases.build(folder, list)
  folder = libuv.fs_realpath(folder)
  local is_program, lines = programs(list), {}
  local root = libuv.fs_realpath(here .. "/..")
  local function line_of(case, only)
    local name = shell(case.name)
    return ("rm -rf %s; ATTN2C_CFLAGS=-O0 lua5.4 %s %s %s --only=%s >%s.log 2>&1 || rm -rf %s"):format(name,
      shell(root .. "/tests/program.lua"), shell(case.path), name, only, name, name)
  end
  local function run(command)
    return os.execute(("cd %s && { %s; }"):format(shell(folder), command))
  end
  run(line_of(list[1], ARCHIVE .. " kernels=c")) -- the runtime, which all cases share
  run(("cc -std=c11 -Wall -Wextra -Werror -O0 -iquote %s %s %s/%s -lpthread -lm -ldl -o run_library"):format(
    shell(root .. "/runtime"), shell(root .. "/tests/c/run_library.c"), shell(list[1].name), ARCHIVE))
  for i, case in ipairs(list) do
    lines[i] = line_of(case, shell(file_of(case.name, is_program[case.name])))
  end
  files.write_all(folder, { { name = "cases.txt", text = table.concat(lines, "\0") } })
  run("xargs -0 -P $(nproc) -n 1 sh -c <cases.txt")
end

--- Returns the shell command that runs a built case, from any folder. If the case was not built: nil, and the build's
--- output.
function cases.command(folder, name)
  folder = libuv.fs_realpath(folder)
  local place = folder .. "/" .. name
  if lfs.attributes(place .. "/" .. name, "mode") then return shell(place .. "/" .. name) .. " run" end
  local library = place .. "/" .. file_of(name)
  if lfs.attributes(library, "mode") then
    return ("%s %s %s run"):format(shell(folder .. "/run_library"), shell(library), name)
  end
  return nil, files.read(place .. ".log") or ""
end

return cases
