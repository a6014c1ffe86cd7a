-- sequences_spec.lua: a model of any length as its users call it: from C, C++ and Python, and by its program with
-- files.
local checkpoint = require("tests.spec.checkpoint")
local files = require("common.files")
local helper = require("tests.spec.helper")
local lfs = require("lfs")

local root = helper.absolute_root()
local here = root .. "/out/spec/sequences"
local MIXED = [[return { name = "mixed", seq = any(70), d_model = 32, heads = 4, layers = 2, mask = "padding",
  input = tokens { vocab = 90, types = 2, optional_types = true, norm = true }, positions = "learned",
  output = { hidden { name = "states" }, pool "mean", normalise { name = "means" } } }]]

-- Masks and a pool, by which an operation's work depends on the length in its own way.
local BANDED = [[return { name = "banded", seq = any(70), d_model = 32, heads = 4,
  layers = { { mask = "causal" }, { mask = { window = { 9, 4 } } }, {} }, positions = "rope",
  output = { pool "mean", linear { to = 5 } } }]]

local try, runs = helper.runner(here)

setup(function()
  if lfs.attributes(here, "mode") then files.remove_folder(here) end
  files.make_folder(here)
  helper.write(here .. "/mixed.lua", MIXED)
  helper.write(here .. "/weights", checkpoint.text(here .. "/mixed.lua", "F32"))
  runs { "lua5.4", root .. "/gen/attn2c", "build", "mixed.lua", "-o", "mixed" }
end)

teardown(function() files.remove_folder(here) end)

local warnings = { "-Wall", "-Wextra", "-Wpedantic", "-Werror" }

describe("sequences of different lengths in one call", function()
  for _, form in ipairs { { "C", "gcc", "-std=c99" }, { "C++", "g++", "-std=c++11", "-x", "c++" } } do
    it("from " .. form[1], function()
      local words = { form[2], table.unpack(form, 3) }
      table.move(warnings, 1, #warnings, #words + 1, words)
      local more = { "-Imixed", root .. "/tests/c/host_sequences.c", "-o", "host", "-Lmixed", "-lmixed",
        "-Wl,-rpath," .. here .. "/mixed" }
      table.move(more, 1, #more, #words + 1, words)
      assert.equal("", runs(words))
      assert.equal("254 rows\n", runs { "./host", "weights" })
    end)
  end

  it("from Python, and from files", function()
    runs { "env", "PYTHONPATH=" .. root .. "/tests/bindings:" .. here .. "/mixed", "PYTHONDONTWRITEBYTECODE=1",
      "/usr/bin/python3", "-W", "error", root .. "/tests/bindings/lengths.py", here .. "/mixed", here .. "/weights" }
  end)

  it("has hints that a checker of types takes", function()
    assert.equal("Success: no issues found in 1 source file\n",
      runs { "mypy", "--strict", "--cache-dir", helper.mypy_cache, "mixed/mixed.py" })
  end)

  it("is refused where the files do not agree", function()
    local function refuses(expected, status, ...)
      local code, output, errors = try { "mixed/mixed", "run", "--weights", "weights", "--output", "means=y.npy", ... }
      assert.equal("mixed: " .. expected .. "\n", errors)
      assert.equal(status, code)
      assert.equal("", output)
      assert.is_nil(lfs.attributes(here .. "/y.npy", "mode"))
    end
    local arrays = { ids = { 1, 2, 3, 4, 5 }, good = { 2, 3 }, zero = { 5, 0 }, long = { 71 }, few = { 2, 2 } }
    for name, list in pairs(arrays) do
      helper.write(("%s/%s.npy"):format(here, name), checkpoint.npy(("%d,"):format(#list), list))
    end
    refuses("lengths[1]: 0, but 1 to 70 is allowed", 3, "--input", "ids=ids.npy", "--input", "lengths=zero.npy")
    refuses("lengths[0]: 71, but 1 to 70 is allowed", 3, "--input", "ids=ids.npy", "--input", "lengths=long.npy")
    refuses("ids: 5 rows, but the sum of lengths has 4", 3, "--input", "ids=ids.npy", "--input", "lengths=few.npy")
    refuses("run: --input ids=X.npy is needed: int32 [rows], 0 to 89, with lengths=X.npy; or [sequences, rows of each]",
      2, "--input", "lengths=good.npy")
    refuses("--input id=ids.npy: no such name; known: ids, token_types, lengths", 2, "--input", "id=ids.npy")
    refuses("--input ids.npy: a name is needed, NAME=PATH; known: ids, token_types, lengths", 2, "--input", "ids.npy")
    refuses("--output good.npy: lengths is read from it", 2, "--output", "states=good.npy", "--input", "ids=ids.npy",
      "--input", "lengths=good.npy")
  end)

  it("is described by info", function()
    local text = runs { "mixed/mixed", "info" }
    assert.is_truthy(text:find("\ntokens       1 to 70 a sequence, without padding\n", 1, true))
    assert.is_truthy(text:find("  input      ids: int32 [rows], 0 to 89\n", 1, true))
    assert.is_truthy(text:find("  output     states: float32 [rows, 32]\n", 1, true))
    assert.is_truthy(text:find("  output     means: float32 [sequences, 32]\n", 1, true))
    local json = require("common.json").decode(runs { "mixed/mixed", "info", "--json" })
    assert.same({ least = 1, most = 70, any_length = true }, json.tokens)
    assert.same({ "rows", 32 }, json.entries[1].outputs[1].shape)
    assert.same({ "sequences", 32 }, json.entries[1].outputs[2].shape)
  end)

  it("is timed at several lengths, with the work of each", function()
    local json, pipeline = require("common.json"), require("pipeline")
    helper.write(here .. "/banded.lua", BANDED)
    local function rows_of(...)
      local list = {}
      for line in runs({ "lua5.4", root .. "/gen/attn2c", "bench", "banded.lua", "-r", "1", "-o", "json", ... }):gmatch(
        "[^\n]+") do list[#list + 1] = json.decode(line) end
      return list
    end
    local list = rows_of()
    list[#list + 1] = rows_of("--length", "13")[1]
    local lengths = { 8, 32, 70, 13 }
    assert.equal(#lengths, #list)
    for i, row in ipairs(list) do
      assert.equal(("forward (%d tokens)"):format(lengths[i]), row.entry)
      local state = pipeline.run(helper.root, here .. "/banded.lua", { "seq=" .. lengths[i] }, "graph")
      assert.equal(state.primary.graph.entry.flops, row.flops)
    end
    local profiled = rows_of("--length", "13", "--profile")[1]
    local sum = 0
    for _, each in ipairs(profiled.profile.results) do sum = sum + each.flops end
    assert.equal(profiled.flops, sum)
    for _, each in ipairs { { "--length", "71", "--length: 71, but 1 to 70 is allowed" },
      { "--bound", "--bound: does not go with a model of any length, whose products have no one size; build it with "
        .. "seq = N to bound calls of N tokens" } } do
      local code, output, errors = try { "lua5.4", root .. "/gen/attn2c", "bench", "banded.lua", each[1],
        #each == 3 and each[2] or nil }
      assert.equal(2, code)
      assert.equal("", output)
      assert.equal("banded: " .. each[#each] .. "\n", errors)
    end
  end)

  it("has a page", function()
    runs { "lua5.4", root .. "/gen/attn2c", "report", "mixed.lua", "-r", "1", "-o", "page.html" }
    local page = helper.read(here .. "/page.html"):gsub("<[^>]*>", " "):gsub("%s+", " ")
    assert.is_truthy(page:find("any length, 70 tokens", 1, true))
    assert.is_truthy(page:find("--profile --length 70", 1, true))
    -- the tensors that are live at the same time fit in the arena
    local arena, peak = page:match("The arena has ([%d.]+) KB%. The peak is at step %d+: ([%d.]+) KB")
    assert.is_true(tonumber(peak) <= tonumber(arena))
    assert.is_nil(page:find("%f[%w]nil%f[%W]"))
  end)
end)
