-- cases.lua: builds many small models in parallel, on all cores, and gives the commands that run them. Most are built
-- as only a shared library, which a common program opens (c/run_library.c): a program for each would take a third of a
-- case's time.
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."

local files = require("common.files")
local libuv = require("common.libuv")
local lfs = require("lfs")
local shell = dofile(here .. "/quote.lua")
local version = require("common.version")

local cases = {}

local ARCHIVE = "libattn2c_c.a"
local AT_ONCE = 8 -- builds of one process, which so starts, and looks for the runtime's objects, less often
local QUICK_LINKER = "-fuse-ld=lld -Wl,--threads=1" -- takes two thirds of the time of the compiler's own

-- Returns the cases that are built as programs: those that say so, and others so that each word of their descriptions
-- (a key, an option) is in one of them.
local function programs(list)
  local seen, chosen = {}, {}
  for _, case in ipairs(list) do
    chosen[case.name] = case.is_program or nil
    local text = (case.text or ""):gsub("%-%-[^\n]*", ""):gsub('name = "[^"]*"', "")
    for word in text:gmatch("[%a_][%w_]*") do
      if not seen[word] then seen[word], chosen[case.name] = true, true end
    end
  end
  return chosen
end

local function file_of(name, is_program) return is_program and name or ("lib%s.so.%d"):format(name, version.abi) end

-- Runs a shell command in a folder.
local function run(folder, command) return os.execute(("cd %s && { %s; }"):format(shell(folder), command)) end

--- Builds programs in a folder, each into NAME/, with the output of the build in NAME.log. If one does not build, its
--- folder is removed. list: { name, path: of what is built, words: more words of tests/program.lua, is_checked: true
--- for a program that checks or times itself }
function cases.programs(folder, list)
  local builds = {}
  for i, each in ipairs(list) do
    local words = { each.path, each.name, table.unpack(each.words or {}) }
    if not each.is_checked then words[#words + 1] = "--answers" end
    builds[i] = table.concat(words, "\n")
  end
  files.write_all(folder, { { name = "cases.txt", text = table.concat(builds, "\0") } })
  run(folder, ("export ATTN2C_LDFLAGS=\"${ATTN2C_LDFLAGS:-%s}\"; ATTN2C_CFLAGS='-O0 -Werror' xargs -0 -P $(nproc) "
    .. "-n %d lua5.4 %s --each <cases.txt"):format(QUICK_LINKER, AT_ONCE,
    shell(libuv.fs_realpath(here .. "/program.lua"))))
end

--- Builds cases in a folder, as cases.programs does; most are shared libraries.
--- list: { name, path: of what is built, text: the description, if it is one, words: more words of tests/program.lua,
--- is_program: true for a program in any case }, at least one.
function cases.build(folder, list)
  files.make_folder(folder)
  folder = libuv.fs_realpath(folder)
  local is_program, builds = programs(list), {}
  local root = libuv.fs_realpath(here .. "/..")
  cases.programs(folder, { { name = "runtime", path = list[1].path, words = { "--only=" .. ARCHIVE, "kernels=c" } } })
  run(folder, ("cc -std=c11 -Wall -Wextra -Werror -O0 -iquote %s %s runtime/%s -lpthread -lm -ldl -o run_library")
    :format(shell(root .. "/runtime"), shell(root .. "/tests/c/run_library.c"), ARCHIVE))
  for i, case in ipairs(list) do
    builds[i] = { name = case.name, path = case.path,
      words = { "--only=" .. file_of(case.name, is_program[case.name]), table.unpack(case.words or {}) } }
  end
  cases.programs(folder, builds)
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
