#!/usr/bin/env lua5.4
-- run.lua: applies the small wrong changes of list.lua, one at a time, to a copy of the project,
-- and runs the suite that must fail. Prints which survive. Exit 1 where one does, or where an
-- entry is no longer right: its text is not there once, or its suite fails, or is empty, without it.
-- Each processor has a copy, and takes the changes of one suite after another. The file out/mutants.txt notes verdicts,
-- so that a run goes on where one before was ended.
--   lua5.4 tests/mutants/run.lua [NAME ...]     all, or the named ones in any case
--   lua5.4 tests/mutants/run.lua --in COPY NAME ...     in a copy that is there: a processor's share
local here = debug.getinfo(1, "S").source:match("^@(.*)/[^/]*$") or "."
local root = here .. "/../.."
package.path = here .. "/?.lua;" .. root .. "/gen/?.lua;" .. package.path

local files = require("common.files")
local hash = require("common.hash")
local lfs = require("lfs")
local process = require("common.process")
local sorted_keys = require("common.words").sorted_keys

local BIN = "out/test/bin"
local NOTES = "out/mutants.txt"

-- The parts of the project that suites need, with what its tests have compiled, so that one change compiles little.
local PARTS = { "gen", "runtime", "templates", "models", "tests", "Makefile", "README.md", "LICENSE", ".luacheckrc",
  ".clang-format" }
local COMPILED = { BIN, "out/test/cache" }

local mutants = {}

--- Seconds of a suite, with what it compiles; what takes longer has failed. A program that a suite leaves behind ends
--- after its seconds of a processor.
mutants.limit, mutants.processor_limit = 300, 300

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

-- Files that suites need and do not name.
local HELPERS = { "tests/c/build.mk", "tests/mutants/run.lua" }

-- Adds a file's text, and the texts of the files of tests that it requires, includes or runs, to texts by name. Nothing
-- is added if the project in `folder` does not have the file.
local function add_texts(texts, folder, name)
  local text = not texts[name] and files.read(folder .. "/" .. name)
  if not text then return end
  texts[name] = text
  local places = { "", name:match("^.*/") }
  for place in text:gmatch("(tests/[%w_/]*)%?%.lua") do places[#places + 1] = place end -- of package.path
  local function add(path)
    for _, place in ipairs(places) do
      if (place .. path):find("^tests/") then add_texts(texts, folder, place .. path) end
    end
  end
  for module in text:gmatch('require%("([%w_.]+)"%)') do add(module:gsub("%.", "/") .. ".lua") end
  for path in text:gmatch('#include "([%w_/.]+)"') do add(path) end
  for path in text:gmatch("tests/[%w_/]+%.%w+") do add(path) end
end

-- Hashes of suites with their files, by folder and suite.
local suites = {}

local function hash_of_suite(entry, folder)
  local key = folder .. "\n" .. entry.suite
  if not suites[key] then
    local texts, parts = {}, {}
    for _, name in ipairs(HELPERS) do texts[name] = files.read(folder .. "/" .. name) or "" end
    add_texts(texts, folder, mutants.suite_file(entry))
    for _, name in ipairs(sorted_keys(texts)) do parts[#parts + 1] = name .. "\n" .. texts[name] end
    suites[key] = hash.list(parts)
  end
  return suites[key]
end

--- Returns a hash of what an entry's verdict depends on most: the entry, its file, its suite, and what helps suites.
--- folder: of the project.
function mutants.key(entry, folder)
  return hash.list { entry.file, entry.old, entry.new, entry.suite, entry.filter or "", entry.equivalent or "",
    files.read(folder .. "/" .. entry.file) or "", hash_of_suite(entry, folder) }
end

--- Returns the verdicts of earlier runs by key. path: of the notes, a line "KEY VERDICT NAME" each, of which the last
--- counts.
function mutants.noted(path)
  local verdicts = {}
  for line in (files.read(path) or ""):gmatch("[^\n]+") do
    local key, verdict = line:match("^(%x+) (%l+) ")
    if key then verdicts[key] = verdict end
  end
  return verdicts
end

--- Adds an entry's verdict to the notes. The line is one write, so that several processes may add lines.
function mutants.note(path, key, verdict, entry)
  local handle <close> = assert(io.open(path, "a"))
  assert(handle:write(("%s %s %s\n"):format(key, verdict, entry.name)))
end

-- Runs words in the copy, for so long; returns the exit status and what was said.
local function run(copy, words)
  local child = process.run { words = { "env", "XDG_CACHE_HOME=" .. copy .. "/out/test/cache", "WERROR=",
    "prlimit", "--cpu=" .. mutants.processor_limit, "timeout", "-k", "5", tostring(mutants.limit),
    table.unpack(words) },
    folder = copy, gather = "all" }
  return child.signal == 0 and child.code or 128 + child.signal, child.output .. child.errors
end

-- Runs the suite of an entry. Returns "passes", "fails" or "does not compile", and what was said. is_whole: without
-- the entry's filter.
local function run_suite(copy, entry, is_whole)
  local name, filter = entry.suite:match("^c:(.*)$"), not is_whole and entry.filter or nil
  local words
  if name then
    local program = ("%s/test_%s"):format(BIN, name)
    local code, said = run(copy, { "make", "-s", "-f", "tests/c/build.mk", program })
    if code ~= 0 then return "does not compile", said end
    words = { program, "--tap", "--jobs", "2", "--color=never", filter and "--filter=" .. filter or nil }
  else
    words = { "lua5.4", "/usr/bin/busted", "-o", "TAP", entry.suite }
    if filter then table.move({ "--filter", filter }, 1, 2, #words + 1, words) end
  end
  local code, said = run(copy, words)
  return code == 0 and "passes" or "fails", said
end

-- True if some test ran, of a spec one whose name matches a pattern.
local function has_result(said, pattern)
  for line in said:gmatch("[^\n]+") do
    local name = line:match("^ok %d* ?%-? ?(.*)$")
    if name and not line:match("# SKIP") and (not pattern or name:find(pattern)) then return true end
  end
  return false
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

-- Removes the files in a folder, and in those within it, that are not older than a time.
local function remove_since(folder, time)
  for name in lfs.dir(folder) do
    local path = folder .. "/" .. name
    local of = name ~= "." and name ~= ".." and lfs.attributes(path) or {}
    if of.mode == "directory" then remove_since(path, time) end
    if of.mode == "file" and of.modification >= time then os.remove(path) end
  end
end

-- Puts a file back as it was, its time with it, and removes all that was compiled since the mutant was written: of a
-- header or a file of the generator, make could not tell that it is stale.
local function restore(copy, entry, text, times)
  local path = copy .. "/" .. entry.file
  local since = lfs.attributes(path, "modification")
  write(path, text)
  lfs.touch(path, times.access, times.modification)
  if lfs.attributes(copy .. "/" .. BIN, "mode") then remove_since(copy .. "/" .. BIN, since) end
end

-- Returns nil if an entry's suite passes without the entry, else what is wrong with it. A spec for one module runs once
-- for all its entries, whatever their filters; others take too long. known: results of suites that were run before.
local function unfit(copy, entry, known)
  local is_whole = not compiles(entry)
  local key = is_whole and entry.suite or entry.suite .. " " .. (entry.filter or "")
  if not known[key] then
    local state, said = run_suite(copy, entry, is_whole)
    -- A copied object may be stale: one of another tree may be newer than the sources.
    if state ~= "passes" and compiles(entry) and not known.is_clean then
      known.is_clean = true
      files.remove_folder(copy .. "/" .. BIN)
      state, said = run_suite(copy, entry, is_whole)
    end
    known[key] = { state = state, said = said }
    if state ~= "passes" then io.write(said) end
  end
  local state = known[key].state
  if state == "passes" and not has_result(known[key].said, is_whole and entry.filter or nil) then state = "is empty" end
  if state == "passes" then return nil end
  return ("without it, its suite %s (%s %s)"):format(state, entry.suite, entry.filter or "")
end

-- "killed", "survived" or "equivalent", or nil and what is wrong with the entry. known: suites that were run before.
local function try(copy, entry, known)
  local new, message = mutants.apply(entry, copy)
  message = message or unfit(copy, entry, known)
  if message then return nil, message end
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

local function new_counts() return { killed = 0, survived = 0, equivalent = 0, wrong = 0 } end

-- Returns a list for copies of the project, which vanish with it, even if what they are for is interrupted.
local function vanishing()
  return setmetatable({}, { __close = function(list)
    for _, copy in ipairs(list) do pcall(files.remove_folder, copy) end
  end })
end

-- Adds copies of the project for entries to such a list.
local function add_copies(list, count, entries)
  for i = 1, count do
    list[i] = new_folder()
    copy_project(list[i], entries)
  end
end

--- Runs entries of the list in a copy of the project; returns how many were { killed, survived, equivalent, wrong }.
--- copy: nil for a new one; note(entry, verdict): is called after each, or nil.
function mutants.run(entries, copy, note)
  local counts, known = new_counts(), {}
  local copies <close> = vanishing()
  add_copies(copies, copy and 0 or 1, entries)
  for _, entry in ipairs(entries) do
    local begin = os.time()
    local verdict, message = try(copy or copies[1], entry, known)
    counts[verdict or "wrong"] = counts[verdict or "wrong"] + 1
    io.write(("%-10s %3d s  %s: %s%s\n"):format(verdict == "survived" and "SURVIVED" or verdict or "WRONG",
      os.time() - begin, entry.name, entry.wrong, message and ": " .. message or
      verdict == "equivalent" and ": " .. entry.equivalent or ""))
    io.flush()
    if note then note(entry, verdict or "wrong") end
  end
  return counts
end

--- Returns the entries of a list that the notes do not have as killed or equivalent, in groups of one suite.
function mutants.left(list, noted, folder)
  local groups, of = {}, {}
  for _, entry in ipairs(list) do
    local verdict = noted[mutants.key(entry, folder)]
    if verdict ~= "killed" and verdict ~= "equivalent" then
      if not of[entry.suite] then
        of[entry.suite] = {}
        groups[#groups + 1] = of[entry.suite]
      end
      table.insert(of[entry.suite], entry)
    end
  end
  return groups
end

-- Runs groups of entries, one on each processor at a time. Each runs in a process of its own, which notes verdicts.
local function run_groups(groups)
  local all, next_group, busy = {}, 1, {}
  for _, group in ipairs(groups) do table.move(group, 1, #group, #all + 1, all) end
  local copies <close> = vanishing()
  add_copies(copies, math.min(#groups, process.processors()), all)
  local function start(i)
    local group = groups[next_group]
    next_group = next_group + 1
    local words = { "lua5.4", here .. "/run.lua", "--in", copies[i] }
    for _, entry in ipairs(group or {}) do words[#words + 1] = entry.name end
    busy[i] = group and assert(process.start { words = words }) or nil
  end
  for i = 1, #copies do start(i) end
  while next(busy) do
    process.wait(function()
      for _, child in pairs(busy) do if child.over then return true end end
      return false
    end)
    for i = 1, #copies do if busy[i] and busy[i].over then start(i) end end
  end
end

local function main()
  local list = require("list")
  if arg[1] == "--in" then
    mutants.run(chosen(list, table.move(arg, 3, #arg, 1, {})), arg[2], function(entry, verdict)
      mutants.note(root .. "/" .. NOTES, mutants.key(entry, root), verdict, entry)
    end)
    return true
  end
  local wanted, counts = chosen(list, arg), new_counts()
  files.make_folder(root .. "/out")
  run_groups(mutants.left(wanted, #arg == 0 and mutants.noted(root .. "/" .. NOTES) or {}, root))
  local noted = mutants.noted(root .. "/" .. NOTES)
  for _, entry in ipairs(wanted) do
    local verdict = noted[mutants.key(entry, root)] or "wrong"
    counts[verdict] = counts[verdict] + 1
    if verdict == "survived" then print("SURVIVED: " .. entry.name) end
  end
  if counts.wrong > 0 then print(("%d entries are wrong"):format(counts.wrong)) end
  print(("%d killed, %d survived, %d equivalent"):format(counts.killed, counts.survived, counts.equivalent))
  return counts.survived == 0 and counts.wrong == 0
end

if arg and arg[0] and arg[0]:match("mutants/run%.lua$") then
  local ok, value = pcall(main)
  if not ok then
    io.stderr:write(tostring(value), "\n")
    os.exit(value == "interrupted!" and 130 or 2, true)
  end
  os.exit(value, true)
end

return mutants
