-- mutants_spec.lua: the list of `make mutants` fits the code: each text is there once, changes something
-- and loads, and each suite exists. A few are run for real, among them what must not count as killed.
local helper = require("tests.spec.helper")
local files = require("common.files")
local lfs = require("lfs")

package.path = helper.root .. "/tests/mutants/?.lua;" .. package.path
local list = require("list")
local mutants = require("run")
local process = require("common.process")

-- Returns the counts of a run of a list, and the text that it prints. copy, note: as for mutants.run.
local function run(entries, copy, note)
  local said, write = {}, io.write
  io.write = function(...) said[#said + 1] = table.concat({ ... }) end -- luacheck: ignore
  local ok, counts = pcall(mutants.run, entries, copy, note)
  io.write = write -- luacheck: ignore
  assert(ok, counts)
  return counts, table.concat(said)
end

-- Returns the names of a spec's tests, none of which runs: what describes them does.
local function names_of_spec(path)
  local names, within = {}, ""
  local function describes(name, body)
    local before = within
    within = within .. name .. " "
    body()
    within = before
  end
  local of = { assert = assert, describe = describes, it = function(name) names[#names + 1] = within .. name end }
  of.pending = of.it -- tests that this machine cannot run, or a short run does not
  for _, name in ipairs { "setup", "teardown", "before_each", "after_each" } do of[name] = function() end end
  assert(loadfile(path, "t", setmetatable(of, { __index = _G })))()
  return names
end

-- Returns the names of a C file's tests, as Criterion's filters have them.
local function names_in_c(path)
  local names = {}
  for suite, name in files.read(path):gmatch("Test%(([%w_]+),%s*([%w_]+)") do
    names[#names + 1] = suite .. "/" .. name
  end
  return names
end

-- Returns a filter of Criterion's as a pattern.
local function pattern_of(filter) return "^" .. filter:gsub("%p", "%%%0"):gsub("%%%*", ".*") .. "$" end

describe("the list of mutants", function()
  it("has at least 60 in all parts, each with a name of its own", function()
    local names, rooms, counts = {}, {}, {}
    for _, entry in ipairs(list) do
      assert.is_nil(names[entry.name], entry.name)
      names[entry.name] = true
      rooms[entry.file:match("^%w+/%w+/%w+")] = true
      local folder = entry.file:match("^%w+/%w+")
      counts[folder] = (counts[folder] or 0) + 1
    end
    for _, folder in ipairs { "gen/text", "gen/checkpoints", "runtime/text", "runtime/program" } do
      assert.is_true(counts[folder] >= 25, folder)
    end
    assert.is_true(#list >= 60)
    for _, room in ipairs { "gen/passes/describe", "gen/passes/validate", "gen/passes/graph", "gen/passes/plan",
      "gen/passes/lower", "gen/passes/schedule", "gen/passes/memory", "gen/passes/kernels", "gen/passes/emit",
      "gen/passes/ranks", "gen/commands/build", "runtime/formats/file", "runtime/reading/views", "runtime/model/model",
      "runtime/ops/softmax", "runtime/check/compare", "runtime/program/arguments", "runtime/ranks/sum",
      "runtime/picture/resample", "runtime/measure/bound" } do
      assert.is_true(rooms[room], room)
    end
  end)

  it("names texts that stand once, and suites that are there", function()
    for _, entry in ipairs(list) do
      local text, message = mutants.apply(entry, helper.root)
      assert(text, ("%s: %s"):format(entry.name, message))
      assert.are_not.equal(files.read(helper.root .. "/" .. entry.file), text, entry.name)
      assert.is_string(lfs.attributes(helper.root .. "/" .. mutants.suite_file(entry), "mode"), entry.name)
      assert.is_true(#entry.wrong > 0 and (entry.equivalent == nil or #entry.equivalent > 0), entry.name)
    end
  end)

  it("names tests, in each suite", function()
    local known = {}
    for _, entry in ipairs(list) do
      local file, is_c = helper.root .. "/" .. mutants.suite_file(entry), entry.suite:find("^c:")
      known[file] = known[file] or (is_c and names_in_c or names_of_spec)(file)
      local pattern, is_there = is_c and entry.filter and pattern_of(entry.filter) or entry.filter or "", false
      for _, name in ipairs(known[file]) do is_there = is_there or name:find(pattern) ~= nil end
      assert.is_true(is_there, ("%s: %s has no test %s"):format(entry.name, entry.suite, entry.filter or ""))
    end
  end)
end)

describe("a run of mutants", function()
  teardown(helper.clean)

  local suite = "tests/spec/passes/common/divide_spec.lua"
  local file = "gen/passes/common/divide.lua"
  local function entry(more)
    local result = { name = "one", file = file, suite = suite, wrong = "w", old = "units % number and 1",
      new = "0 and 1" }
    for key, value in pairs(more or {}) do result[key] = value end
    return result
  end

  -- A copy of what the suite needs, for all but the first test, which lets the run make its own.
  local copy

  setup(function()
    copy = helper.folder()
    helper.succeeds(("mkdir %s/tests && cp -R gen templates %s && cp -R tests/*.lua tests/spec %s/tests"):format(copy,
      copy, copy), helper.root)
  end)

  local verdicts = {} -- of the first test, by name

  it("kills, tells who survives, and touches nothing", function()
    local before = files.read(helper.root .. "/" .. file)
    local counts, said = run({ entry(), entry { name = "two", new = "units % (number) and 1" },
      entry { name = "three", new = "units % (number) and 1", equivalent = "brackets" } }, nil,
      function(each, verdict) verdicts[each.name] = verdict end)
    assert.same({ killed = 1, survived = 1, equivalent = 1, wrong = 0 }, counts)
    assert.matches("killed .*one: w\nSURVIVED .*two: w\nequivalent .*three: w: brackets\n$", said)
    assert.equal(before, files.read(helper.root .. "/" .. file))
  end)

  it("goes on after those that an earlier run killed, as long as their files are as they were", function()
    local notes, folder = helper.folder() .. "/notes.txt", helper.folder()
    local function key(each) return mutants.key(each, helper.root) end
    local all = { entry(), entry { name = "two", new = "units % (number) and 1" },
      entry { name = "three", suite = "tests/spec/common/words_spec.lua" } }
    local function left(root)
      local names = {}
      for i, group in ipairs(mutants.left(all, mutants.noted(notes), root or helper.root)) do
        names[i] = {}
        for k, each in ipairs(group) do names[i][k] = each.name end
      end
      return names
    end
    assert.same({ { "one", "two" }, { "three" } }, left())
    for i = 1, 2 do mutants.note(notes, key(all[i]), verdicts[all[i].name], all[i]) end
    assert.same({ { "two" }, { "three" } }, left()) -- it survived
    mutants.note(notes, key(all[3]), "equivalent", all[3])
    assert.same({ { "two" } }, left())
    assert.same({ { "one", "two" }, { "three" } }, left(folder)) -- where the files are others
    mutants.note(notes, key(all[1]), "survived", all[1])
    assert.same({ { "one", "two" } }, left())
  end)

  it("tries again where a file has changed that the suite requires or includes", function()
    local function key(own, first, second)
      local folder = helper.folder()
      files.write_all(folder .. "/tests", { { name = "a.lua", text = first }, { name = "b.lua", text = second } })
      files.write_all(folder .. "/tests/c", { { name = "test_x.c", text = '#include "y.h"' },
        { name = "y.h", text = second } })
      return mutants.key(entry { suite = own }, folder)
    end
    for _, first in ipairs { 'require("tests.b")', 'require("b")', 'dofile(root .. "/tests/b.lua")' } do
      for _, own in ipairs { "tests/a.lua", "c:x" } do
        assert.equal(key(own, first, "1"), key(own, first, "1"))
        assert.not_equal(key(own, first, "1"), key(own, first, "2"), own .. " " .. first)
      end
    end
  end)

  it("takes nothing for killed that is wrong in itself", function()
    local counts = run({ entry { old = "no such text" }, entry { old = "local" }, entry { new = "= = 0" },
      entry { filter = "no such test" }, entry { equivalent = "it is not" } }, copy)
    assert.same({ killed = 0, survived = 0, equivalent = 0, wrong = 5 }, counts)
  end)

  it("ends programs that compute for ever", function()
    local number, limit = helper.folder() .. "/number", mutants.processor_limit
    local line = 'local words = require("common.words")'
    finally(function() mutants.processor_limit = limit end)
    local looping = "%s os.execute([[setsid sh -c 'echo $$ >%s; while :; do :; done' >/dev/null 2>&1 &]])"
    mutants.processor_limit = 2
    run({ entry { old = line, new = looping:format(line, number) } }, copy)
    -- A busy machine may give the program its seconds only after minutes.
    local function wait_for(is_so)
      for _ = 1, 6000 do
        if is_so() then return end
        process.sleep(50)
      end
      error("nothing happens")
    end
    local function place() return "/proc/" .. tonumber((files.read(number) or ""):match("^(%d+)\n") or 0) end
    wait_for(function() return place() ~= "/proc/0" end)
    wait_for(function() return not (files.read(place() .. "/cmdline") or ""):find("while :;", 1, true) end)
  end)
end)
