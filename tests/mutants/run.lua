#!/usr/bin/env lua5.4
-- run.lua: applies the small wrong changes of list.lua, one at a time, to a copy of the project,
-- and runs the suite that must fail. Prints which survive. Exit 1 where one does, or where an
-- entry is no longer right: its text is not there once, or its suite fails, or is empty, without it.
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
local root = here .. "/../.."
package.path = here .. "/?.lua;" .. root .. "/gen/?.lua;" .. package.path

local files = require("common.files")
local lfs = require("lfs")
local process = require("common.process")

local BIN = "out/test/bin"

-- The parts of the project that suites need, with what its tests have compiled, so that one change compiles little.
local PARTS = { "gen", "runtime", "templates", "models", "tests", "Makefile", "README.md", "LICENSE", ".luacheckrc",
  ".clang-format" }
local COMPILED = { BIN, "out/test/cache" }

local mutants = {}

--- Seconds of a suite, with what it compiles; what takes longer has failed. A program that a suite leaves behind ends
--- after the same seconds of a processor.
mutants.limit = 300

--- How often a text occurs in another.
function mutants.occurrences(text, part)
  local count, at = 0, 1
  while true do
    local first, last = text:find(part, at, true)
    if not first then return count end
    count, at = count + 1, last + 1
  end
end

--- The mutated text of an entry's file, or nil and what is wrong with the entry. folder: of the project.
function mutants.apply(entry, folder)
  local text = files.read(folder .. "/" .. entry.file)
  if not text then return nil, "there is no file " .. entry.file end
  local count = mutants.occurrences(text, entry.old)
  if count ~= 1 then return nil, ("its text occurs %d times in %s"):format(count, entry.file) end
  local first, last = text:find(entry.old, 1, true)
  local new = text:sub(1, first - 1) .. entry.new .. text:sub(last + 1)
  if entry.file:match("%.lua$") then
    local chunk, message = load(new, "=" .. entry.file)
    if not chunk then return nil, "does not load: " .. message end
  end
  return new
end

--- The file of an entry's suite: a spec's path, or c:NAME (c:NAME_VARIANT for element loops).
function mutants.suite_file(entry)
  local name = entry.suite:match("^c:(.*)$")
  return name and ("tests/c/test_%s.c"):format(name:gsub("_base$", "")) or entry.suite
end

-- Runs words in the copy, for so long; returns the exit status and what was said.
local function run(copy, words)
  local child = process.run { words = { "env", "XDG_CACHE_HOME=" .. copy .. "/out/test/cache",
    "prlimit", "--cpu=" .. mutants.limit, "timeout", "-k", "5", tostring(mutants.limit), table.unpack(words) },
    folder = copy, gather = "all" }
  return child.signal == 0 and child.code or 128 + child.signal, child.output .. child.errors
end

-- "passes", "fails", "empty" (no test ran) or "does not compile", and what was said.
local function run_suite(copy, entry)
  local name = entry.suite:match("^c:(.*)$")
  local words
  if name then
    local program = ("%s/test_%s"):format(BIN, name)
    local code, said = run(copy, { "make", "-s", "-f", "tests/c/build.mk", program })
    if code ~= 0 then return "does not compile", said end
    words = { program, "--tap", "--jobs", "2", "--color=never", entry.filter and "--filter=" .. entry.filter or nil }
  else
    words = { "lua5.4", "/usr/bin/busted", "-o", "TAP", entry.suite }
    if entry.filter then table.move({ "--filter", entry.filter }, 1, 2, #words + 1, words) end
  end
  local code, said = run(copy, words)
  if code ~= 0 then return "fails", said end
  for line in said:gmatch("[^\n]+") do
    if line:match("^ok ") and not line:match("# SKIP") then return "passes", said end
  end
  return "empty", said
end

local function new_folder()
  local pipe = assert(io.popen("mktemp -d"))
  local path = pipe:read("l")
  return assert(pipe:close() and path, "no temporary folder")
end

-- Whether a suite takes what was compiled before: tests of C, and specs of the whole.
local function compiles(entry) return entry.suite:find("^c:") or entry.suite:find("/whole/", 1, true) end

-- Copies what the suites of a list's entries need.
local function copy_project(copy, entries)
  local parts = { PARTS }
  for _, entry in ipairs(entries) do if compiles(entry) then parts[2] = COMPILED end end
  files.make_folder(copy .. "/out/test")
  for _, list in ipairs(parts) do
    for _, name in ipairs(list) do
      local from, to = root .. "/" .. name, copy .. "/" .. name
      if lfs.attributes(from, "mode") then
        local child = process.run { words = { "cp", "-a", from, to }, gather = "all" }
        -- Others may compile meanwhile, so that files come and go; a missing one is compiled again.
        if child.code ~= 0 and list ~= COMPILED then error(child.errors, 0) end
      end
    end
  end
end

local function write(path, text)
  local handle = assert(io.open(path, "wb"))
  assert(handle:write(text))
  assert(handle:close())
end

-- Returns what build.mk makes of an entry's file: an object, or the program of ranks, for MPI.
local function object_of(entry)
  if entry.file:find("^runtime/ranks/") then return BIN .. "/ranks_meetings" end
  return ("%s/obj/%s.o"):format(BIN, entry.file:match("([^/]*)%.%w+$"))
end

local function is_source(entry) return entry.file:match("^runtime/.*%.c$") ~= nil end

-- Runs the suite of a mutated file. A spec cannot tell a file that does not compile from one that is wrong.
local function run_mutated(copy, entry)
  if is_source(entry) and not entry.suite:find("^c:") then
    local code, said = run(copy, { "make", "-s", "-f", "tests/c/build.mk", object_of(entry) })
    if code ~= 0 then return "does not compile", said end
  end
  return run_suite(copy, entry)
end

-- Puts a file back as it was, its time with it, and removes what was compiled from the mutant.
local function restore(copy, entry, text, times)
  local path = copy .. "/" .. entry.file
  write(path, text)
  lfs.touch(path, times.access, times.modification)
  local name = entry.suite:match("^c:(.*)$")
  if name then os.remove(("%s/%s/test_%s"):format(copy, BIN, name)) end
  if name or is_source(entry) then os.remove(("%s/%s"):format(copy, object_of(entry))) end
  if entry.file:match("^runtime/") then os.remove(("%s/%s/runtime/libchecked.a"):format(copy, BIN)) end
end

-- "killed", "survived" or "equivalent", or nil and what is wrong with the entry. known: suites that were run before.
local function try(copy, entry, known)
  local new, message = mutants.apply(entry, copy)
  if not new then return nil, message end
  local key = entry.suite .. " " .. (entry.filter or "")
  if not known[key] then
    local state, said = run_suite(copy, entry)
    known[key] = state
    if state ~= "passes" then io.write(said) end
  end
  if known[key] ~= "passes" then return nil, ("without it, its suite %s (%s)"):format(known[key], key) end
  local path = copy .. "/" .. entry.file
  local text, times = files.read(path), lfs.attributes(path)
  write(path, new)
  local verdict, said = run_mutated(copy, entry)
  restore(copy, entry, text, times)
  if verdict == "does not compile" then return nil, verdict .. "\n" .. said end
  if not entry.equivalent then return verdict == "fails" and "killed" or "survived" end
  if verdict == "fails" then return nil, "it is marked as equivalent, and its suite fails" end
  return "equivalent"
end

local function chosen(list, names)
  if #names == 0 then return list end
  local some = {}
  for _, name in ipairs(names) do
    local before = #some
    for _, entry in ipairs(list) do if entry.name == name then some[#some + 1] = entry end end
    if #some == before then error(("no mutant is called %s"):format(name), 0) end
  end
  return some
end

--- Runs the named mutants of a list, or all; returns how many were { killed, survived, equivalent, wrong }.
function mutants.run(list, names)
  local counts = { killed = 0, survived = 0, equivalent = 0, wrong = 0 }
  local wanted = chosen(list, names)
  local copy = new_folder()
  local _ <close> = setmetatable({}, { __close = function() files.remove_folder(copy) end })
  copy_project(copy, wanted)
  local known = {}
  for _, entry in ipairs(wanted) do
    local begin = os.time()
    local verdict, message = try(copy, entry, known)
    counts[verdict or "wrong"] = counts[verdict or "wrong"] + 1
    io.write(("%-10s %3d s  %s: %s%s\n"):format(verdict == "survived" and "SURVIVED" or verdict or "WRONG",
      os.time() - begin, entry.name, entry.wrong, message and ": " .. message or
      verdict == "equivalent" and ": " .. entry.equivalent or ""))
    io.flush()
  end
  return counts
end

local function main()
  local ok, counts = pcall(mutants.run, require("list"), arg)
  if not ok then
    io.stderr:write(tostring(counts), "\n")
    os.exit(counts == "interrupted!" and 130 or 2, true)
  end
  if counts.wrong > 0 then print(("%d entries are wrong"):format(counts.wrong)) end
  print(("%d killed, %d survived, %d equivalent"):format(counts.killed, counts.survived, counts.equivalent))
  os.exit(counts.survived == 0 and counts.wrong == 0, true)
end

if arg and arg[0] and arg[0]:match("mutants/run%.lua$") then main() end

return mutants
