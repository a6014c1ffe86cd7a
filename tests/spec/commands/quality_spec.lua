-- quality_spec: arrays as programs write them, and what tells two apart.
local helper = require("tests.spec.helper")
local arrays = require("commands.quality.arrays")
local dkjson = require("dkjson")
local files = require("common.files")
local neighbours = require("commands.quality.neighbours")
local padding = require("commands.quality.padding")
local quality = require("commands.quality")
local samples = require("commands.quality.samples")
local verdict = require("commands.quality.verdict")

describe("two arrays", function()
  local function of(...) return { shape = { select("#", ...) // 2, 2 }, values = { ... } } end

  it("that are the same have the cosine 1 and no difference", function()
    local d = arrays.compare(of(1.0, 2.0, 3.0, -4.0), of(1.0, 2.0, 3.0, -4.0))
    assert.is_true(math.abs(d.cosine - 1) < 1e-12)
    assert.same({ 0.0, 0.0, 1.0 }, { d.relative, d.largest, d.top })
  end)

  it("are compared by length, by their largest difference, and row by row by what is largest", function()
    local d = arrays.compare(of(3.0, 4.0, 0.0, 0.0), of(3.0, 4.5, 0.0, 0.0))
    assert.equal(0.1, d.relative)
    assert.equal(0.5, d.largest)
    assert.equal(1.0, d.top)
    assert.equal(0.5, arrays.compare(of(1.0, 2.0, 1.0, 2.0), of(1.0, 2.0, 2.0, 1.0)).top)
    assert.equal(0.0, arrays.compare(of(1.0, 0.0), of(0.0, 1.0)).cosine)
  end)

  it("of which one has a NaN where the other has a number are apart as far as can be", function()
    for _, odd in ipairs { 0 / 0, math.huge } do
      local d = arrays.compare(of(odd, 1.0), of(1.0, 1.0))
      assert.same({ largest = math.huge, top = d.top }, d) -- no cosine of what is left over
    end
    assert.equal(0.0, arrays.compare(of(0 / 0, 1.0), of(0 / 0, 1.0)).largest)
  end)

  it("with rows of padding are compared by the others", function()
    assert.equal(0.5, arrays.compare(of(1.0, 2.0, 1.0, 2.0, 0.0, 0.0), of(1.0, 2.0, 2.0, 1.0, 0.0, 0.0)).top)
    assert.equal(1.0, arrays.compare(of(0.0, -1.0), of(0.0, -1.0)).top)
  end)

  it("that are NaN in both say nothing; a row with a NaN has no largest number", function()
    assert.same({}, arrays.compare(of(0 / 0, 0 / 0), of(0 / 0, 0 / 0)))
    assert.equal(1.0, arrays.compare(of(0 / 0, 1.0, 1.0, 2.0), of(0 / 0, 1.0, 1.0, 2.0)).top)
    assert.equal(0.5, arrays.compare(of(1.0, 0.0, 1.0, 2.0), of(0 / 0, 0.0, 1.0, 2.0)).top)
    assert.equal(0.5, arrays.accuracy(of(0 / 0, 1.0, 2.0, 1.0), { 0, 0 }))
  end)

  it("of integers are alike where these are", function()
    local a = { shape = { 4 }, values = { 1, 2, 3, 4 }, integers = true }
    local b = { shape = { 4 }, values = { 1, 2, 3, 5 }, integers = true }
    assert.same({ top = 0.75 }, arrays.compare(a, b))
  end)
end)

describe("embeddings", function()
  local function of(...) return { shape = { select("#", ...) // 2, 2 }, values = { ... } } end
  local a = of(1.0, 0.0, 0.9, 0.1, 0.0, 1.0, 0.1, 0.9)

  it("that differ in length alone have the same neighbours", function()
    local longer = of(2.0, 0.0, 4.5, 0.5, 0.0, 3.0, 0.2, 1.8)
    local n = neighbours.compare(a, longer)
    assert.same({ 4, 1.0, 1, 1.0 }, { n.rows, n.nearest, n.near, n.kept })
    assert.is_true(math.abs(n.correlation - 1) < 1e-12)
  end)

  it("of which two change places lose their neighbours, and similarities run the other way", function()
    local n = neighbours.compare(a, of(1.0, 0.0, 0.0, 1.0, 0.9, 0.1, 0.1, 0.9))
    assert.same({ 0.0, 0.0 }, { n.nearest, n.kept })
    assert.is_true(n.correlation < 0)
  end)

  it("of which a few stay count a top of at most ten", function()
    local values = {}
    for i = 1, 60 do values[i] = math.sin(i * i) end
    local rows = { shape = { 30, 2 }, values = values }
    assert.same({ 30, 10, 1.0 }, { neighbours.compare(rows, rows).rows, neighbours.compare(rows, rows).near,
      neighbours.compare(rows, rows).kept })
  end)

  it("that are two, or have no direction, cannot be compared", function()
    assert.is_nil(neighbours.compare(of(1.0, 0.0, 0.0, 1.0), of(1.0, 0.0, 0.0, 1.0)))
    assert.is_nil(neighbours.compare(a, of(0.0, 0.0, 0.9, 0.1, 0.0, 1.0, 0.1, 0.9)))
    assert.is_nil(neighbours.compare(a, of(0 / 0, 0.0, 0.9, 0.1, 0.0, 1.0, 0.1, 0.9)))
  end)
end)

describe("numbers that are NaN in both", function()
  teardown(helper.clean)

  it("count for nothing, and integers that are made of them neither", function()
    local pipeline = require("pipeline")
    local file = helper.file([[return { name = "odd", d_model = 8, heads = 1, seq = 2, layers = 1,
      output = { linear { to = 3, name = "logits" }, argmax { name = "label" } } }]], "odd.lua")
    local folder = helper.folder()
    local function build(list) return folder .. "/odd", pipeline.run(helper.root, file, list, "graph") end
    local function run(_, list)
      for i, word in ipairs(list) do
        local member, path = word:match("^(%l+)=(.*)$")
        if list[i - 1] == "--output" then
          local is_logits = member == "logits"
          local bytes = arrays.random(is_logits and { 1, 2, 3 } or { 1, 2 }, is_logits and "f32" or "i32", 0, 1)
          if is_logits then bytes = bytes:sub(1, -25) .. ("<f"):pack(0 / 0):rep(6) end
          files.write(path, bytes)
        end
      end
      return 0
    end
    local measured = quality.measure({ overrides = { "precision=int8" }, input = {}, text = {} }, "x.safetensors",
      build, run)
    assert.equal("unknown: in f32 no number of logits is finite", verdict.line(measured))
    assert.is_nil(measured.outputs[2].top)
  end)
end)

describe("a verdict", function()
  local function line(row, more)
    local measured = { outputs = { row }, rows = 100 }
    for key, value in pairs(more or {}) do measured[key] = value end
    return verdict.line(measured)
  end

  it("goes by accuracy where that is known, else by what an answer would notice", function()
    assert.equal("close to f32: accuracy 98.6%, in f32 99.0%",
      line { top = 0.5, accuracy = 0.986, accuracy_f32 = 0.99 })
    assert.equal("far from f32: accuracy 90.0%, in f32 99.0%",
      line { top = 1.0, accuracy = 0.9, accuracy_f32 = 0.99 })
    assert.equal("close to f32: 99.5% of the largest scores are the same", line { top = 0.995, cosine = 0.9999 })
    assert.equal("usable, with some differences: 97.0% of the largest scores are the same",
      line { top = 0.97, cosine = 0.9999 })
    assert.equal("far from f32: cosine 0.9000", line { cosine = 0.9 })
    assert.equal("usable, with some differences: 90% of the 10 nearest rows stay", line { cosine = 0.9999,
      neighbours = { kept = 0.9, near = 10, correlation = 0.9999 } })
  end)

  it("counts the rows of labels by their numbers", function()
    assert.equal(64, quality.fewest_rows { { shape = { 64, 600 } }, { shape = { 64 } } })
    assert.equal(3, quality.fewest_rows { { shape = { 64 } }, { shape = { 2, 8, 4 }, neighbours = { rows = 3 } } })
  end)

  it("says what it costs, names calibrate where that may help, and says where rows are few", function()
    local cost = { ms = 1, ms_f32 = 4, weight_bytes = 10, weight_bytes_f32 = 40 }
    assert.equal("close to f32: cosine 1.0000; takes 0.25 of the time and 0.25 of the weights' bytes",
      line({ cosine = 1.0 }, { cost = cost, can_calibrate = true }))
    assert.matches("; `attn2c calibrate` finds factors or importance", line({ cosine = 0.9 }, { can_calibrate = true }))
    assert.matches("; only 3 rows: give more inputs$", line({ cosine = 1.0 }, { rows = 3 }))
    assert.matches("; only 1 row: give more inputs$", line({ cosine = 1.0 }, { rows = 1 }))
  end)

  it("is none where f32 has no number, and far where only the other has none", function()
    assert.equal("unknown: in f32 no number of logits is finite", line { name = "logits", is_empty = true })
    assert.equal("far from f32: logits has NaN or infinity where f32 has numbers",
      line { name = "logits", largest = math.huge })
  end)
end)

describe("a model that writes", function()
  local function line(perplexity, kl)
    return verdict.line { outputs = { { name = "logits", top = 0.5, cosine = 0.5 } }, rows = 100,
      language = { perplexity = perplexity, perplexity_f32 = 10.0, kl_mean = kl, equal_greedy = 0.9 } }
  end

  it("is judged by its perplexity and its distributions, not by its logits", function()
    assert.equal("close to f32: perplexity 10.05, in f32 10 (+0.50%); 90.0% of the greedy tokens are the same",
      line(10.05, 0.01))
    assert.matches("^usable", line(10.05, 0.05))
    assert.matches("^usable", line(10.3, 0.01))
    assert.matches("^far from f32", line(10.3, 0.2))
    assert.matches("^far from f32", line(11.0, 0.01))
  end)

  it("is compared with the same weights in f32", function()
    assert.same({ "precision=f32", "weights=none", "seq=8" },
      samples.in_f32({ "weights=int4", "seq=8", "weights.output=int8", "precision=bf16" }, true))
    assert.same({ "precision=f32", "weights=int4" }, samples.in_f32({ "weights=int4" }))
    assert.same({ "precision=f32", "cache=f32", "seq=8" }, samples.in_f32({ "cache=int8", "seq=8" }, false, true))
  end)
end)

describe("an array of random values", function()
  teardown(helper.clean)

  it("reads back with its shape and type", function()
    math.randomseed(3, 0)
    local read = arrays.read(helper.file(arrays.random({ 2, 500 }, "f32")))
    assert.same({ 2, 500 }, read.shape)
    local sum, squares = 0.0, 0.0
    for _, value in ipairs(read.values) do sum, squares = sum + value, squares + value * value end
    assert.is_true(math.abs(sum / 1000) < 0.15 and math.abs(squares / 1000 - 1) < 0.15)
    local ids = arrays.read(helper.file(arrays.random({ 64 }, "i32", 3, 6)))
    assert.is_true(ids.integers)
    for _, id in ipairs(ids.values) do assert.is_true(id >= 3 and id < 6) end
  end)
end)

describe("labels", function()
  after_each(helper.clean)

  it("are integers of an array, integers a line, or words that the model has", function()
    local bytes = arrays.random({ 4 }, "i32", 2, 3)
    assert.same({ 2, 2, 2, 2 }, quality.labels(helper.file(bytes, "labels.npy")))
    assert.same({ 3, -1, 0 }, quality.labels(helper.file("3\n-1\n 0 \n", "labels.txt")))
    assert.same({ 1, 0, 7 }, quality.labels(helper.file("no\nyes\n7", "labels.txt"), { "yes", "no" }))
  end)

  it("that are none are refused with their line", function()
    local function refused(code, pattern, path, names)
      local fault = helper.fault(quality.labels, path, names)
      assert.equal(code, fault.code)
      assert.truthy(fault.lines[1]:find(pattern, 1, true), fault.lines[1])
    end
    refused(4, "cannot be read", "/nowhere/labels.txt")
    refused(3, 'line 2: "maybe" is not an integer nor a label of the model', helper.file("yes\nmaybe\n"), { "yes" })
    refused(3, 'has the type "<f4", but integers are', helper.file(arrays.random({ 4 }, "f32"), "labels.npy"))
    local whole = arrays.random({ 4 }, "i32", 2, 3)
    for _, size in ipairs { 7, 9, 40, #whole - 4 } do
      assert.equal(3, helper.fault(quality.labels, helper.file(whole:sub(1, size), "labels.npy")).code)
    end
    refused(3, "is cut off, or has more", helper.file(whole .. whole, "labels.npy"))
    refused(3, "Fortran order", helper.file((whole:gsub("False", "True "):gsub("%(4,%)", "(2,1,2)")), "labels.npy"))
    refused(3, "all labels are below 0", helper.file("-1\n-100\n"))
  end)

  it("come from arrays of any integers, byte order and version of the format", function()
    local function array(version, descr, format, ...)
      local header = ("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }\n"):format(descr, select("#", ...))
      return helper.file("\x93NUMPY" .. string.char(version, 0) .. (version > 1 and "<s4" or "<s2"):pack(header)
        .. format:rep(select("#", ...)):pack(...), "labels.npy")
    end
    assert.same({ 3, 200 }, quality.labels(array(1, "|u1", "B", 3, 200)))
    assert.same({ -1, 4 }, quality.labels(array(2, "<i8", "i8", -1, 4)))
    assert.same({ 258, 1 }, quality.labels(array(3, ">i2", ">i2", 258, 1)))
  end)

  it("are read in Fortran order, too", function()
    local bytes = arrays.random({ 2, 3 }, "i32", 0, 1):sub(1, -25) .. ("<i4i4i4i4i4i4"):pack(1, 2, 3, 4, 5, 6)
    assert.same({ 1, 2, 3, 4, 5, 6 }, quality.labels(helper.file(bytes, "c.npy")))
    assert.same({ 1, 3, 5, 2, 4, 6 }, quality.labels(helper.file((bytes:gsub("False", "True ")), "f.npy")))
  end)

  it("are refused where a size is none that an array can have", function()
    local bytes = arrays.random({ 3 }, "i32", 0, 1)
    for _, shape in ipairs { "(3, 99999999999999999999)", "(99999999999999999999, 3)", "(3, 5, 1)" } do
      local header = ("{'descr': '<i4', 'fortran_order': True, 'shape': %s, }\n"):format(shape)
      local found, wrong = arrays.integers("\x93NUMPY\1\0" .. ("<s2"):pack(header) .. bytes:sub(-12))
      assert.is_nil(found)
      assert.equal("string", type(wrong))
    end
    -- Sizes whose product is beyond 64 bits, or 0, of no numbers.
    for _, shape in ipairs { "(4294967296, 4294967296)", "(1099511627776, 0)" } do
      local header = ("{'descr': '<i4', 'fortran_order': True, 'shape': %s, }\n"):format(shape)
      local found = arrays.integers("\x93NUMPY\1\0" .. ("<s2"):pack(header))
      assert.same(shape:find(", 0", 1, true) and {} or nil, found and found.values)
    end
  end)

  it("that no score stands for are said", function()
    assert.same({ nil, 2 }, { arrays.accuracy({ shape = { 1, 2 }, values = { 1, 2 } }, { 2 }) })
  end)

  it("are right where the largest score is theirs; negative ones do not count", function()
    local scores = { shape = { 4, 3 }, values = { 0, 1, 0, 5, 1, 1, 0, 0, 2, 3, 2, 1 } }
    assert.equal(0.75, arrays.accuracy(scores, { 1, 0, 2, 1 }))
    assert.equal(1.0, arrays.accuracy(scores, { 1, 0, 2, -100 }))
    assert.is_nil(arrays.accuracy(scores, { 1, 0, 2 }))
    assert.equal(0.5, arrays.accuracy({ shape = { 2 }, values = { 4, 5 }, integers = true }, { 4, 4 }))
    assert.is_nil(arrays.accuracy({ shape = { 2, 1 }, values = { 4, 5 } }, { 4, 4 }))
  end)
end)

describe("padding", function()
  after_each(helper.clean)

  local function integers(shape, list)
    local bytes = arrays.random(shape, "i32", 0, 1)
    return helper.file(bytes:sub(1, -1 - 4 * #list) .. ("<i4"):rep(#list):pack(table.unpack(list)), #list .. ".npy")
  end

  local function told_by(given, spec)
    local list = { "run", "--weights", "w" }
    for member, path in pairs(given) do list[#list + 1], list[#list + 2] = "--input", member .. "=" .. path end
    return padding.of(list, { input = { stage = "hidden" }, past = 0, inputs = spec and spec.inputs,
      memory = spec and spec.memory })
  end

  it("is what lengths do not count, wherever the axes of the rows are", function()
    local told = told_by { lengths = integers({ 2 }, { 1, 3 }) }
    assert.same({ inner = 4, [1] = true, [2] = true }, padding.parts(told, { grows = "bs." }, { 2, 3, 4 }))
    assert.same({ inner = 4, [2] = true, [4] = true }, padding.parts(told, { grows = "sb." }, { 3, 2, 4 }))
    assert.same({ inner = 1, [1] = true, [2] = true }, padding.parts(told, { grows = "bs" }, { 2, 3 }))
    assert.same({ inner = 3, [1] = true, [2] = true, [4] = true, [5] = true },
      padding.parts(told, { grows = "b.sk" }, { 2, 2, 3, 3 }))
    assert.is_nil(padding.parts(told, { grows = "b." }, { 2, 4 }))
    assert.is_nil(padding.parts(told, {}, { 3, 4 }))
    assert.is_nil(padding.parts(told_by { lengths = integers({ 2 }, { 3, 3 }) }, { grows = "bs." }, { 2, 3, 4 }))
    assert.is_nil(padding.parts(told_by {}, { grows = "bs." }, { 2, 3, 4 }))
  end)

  it("is what a mask does not keep, under whatever name, and of the memory what its lengths do not count", function()
    local mask = integers({ 2, 3 }, { 0, 1, 1, 1, 1, 0 })
    local told = told_by({ kept = mask }, { inputs = { attention_mask = "kept" } })
    assert.same({ inner = 4, [0] = true, [5] = true }, padding.parts(told, { grows = "bs." }, { 2, 3, 4 }))
    told = told_by { key_padding = mask }
    assert.same({ inner = 4, [1] = true, [2] = true, [3] = true, [4] = true },
      padding.parts(told, { grows = "bs." }, { 2, 3, 4 }))
    told = told_by({ memory_lengths = integers({ 2 }, { 5, 4 }) }, { memory = { seq = 5 } })
    assert.same({ inner = 2, [9] = true }, padding.parts(told, { grows = "b..", shape = { 1, 5, 2 } }, { 2, 5, 2 }))
    assert.is_nil(padding.parts(told, { grows = "bs.", shape = { 1, 5, 2 } }, { 2, 5, 2 }))
  end)

  it("is in no number that is said", function()
    local out = { inner = 2, [1] = true }
    local a, b = { shape = { 3, 2 }, values = { 1.0, 2.0, 3.0, 0.0, 5.0, 6.0 } },
      { shape = { 3, 2 }, values = { 1.0, 2.0, 0 / 0, 7.0, 5.0, 6.5 } }
    local d = arrays.compare(a, b, out)
    assert.same({ 0.5, 1.0, math.sqrt(0.25 / 66) }, { d.largest, d.top, d.relative })
    assert.equal(0.5, arrays.accuracy(a, { 1, 1, 0 }, out))
    local x, y = { shape = { 3 }, values = { 1, 2, 3 }, integers = true },
      { shape = { 3 }, values = { 1, 5, 4 }, integers = true }
    assert.same({ top = 0.5 }, arrays.compare(x, y, { inner = 1, [1] = true }))
    assert.equal(1.0, arrays.accuracy(x, { 1, 0, 3 }, { inner = 1, [1] = true }))
    local bytes = arrays.random({ 3, 2 }, "f32")
    local path, other = helper.file(bytes, "a.npy"), helper.file(bytes:sub(1, -13) .. ("<f"):pack(9) .. bytes:sub(-8),
      "b.npy")
    assert.is_true(arrays.relative(path, other) > 0)
    assert.equal(0, arrays.relative(path, other, function() return out end))
  end)
end)

describe("the first sequences", function()
  after_each(helper.clean)

  it("of an array, and lines of a file, are taken; what has no batch is whole", function()
    local bytes = arrays.random({ 5, 3 }, "f32")
    local first = arrays.read(helper.file(arrays.first(bytes, 2)))
    local all = arrays.read(helper.file(bytes))
    assert.same({ 2, 3 }, first.shape)
    assert.same(table.move(all.values, 1, 6, 1, {}), first.values)
    assert.equal(bytes, arrays.first(bytes, 5))
    local graph = { entry = { inputs = { "in.x", "in.table" } }, tensors = {
      ["in.x"] = { member = "x", grows = "b.." }, ["in.table"] = { member = "table" } } }
    local path, text = helper.file(bytes, "x.npy"), helper.file("one\ntwo\nthree\n", "texts.txt")
    local given = samples.first({ input = { "x=" .. path, "table=" .. path }, text = { text } }, graph,
      helper.folder(), 2)
    assert.same({ 2, 3 }, arrays.read(given.input[1]:sub(3)).shape)
    assert.equal("table=" .. path, given.input[2])
    assert.equal("one\ntwo\n", helper.read(given.text[1]))
  end)

  it("of two files are compared without reading all at once", function()
    math.randomseed(1, 0)
    local a = arrays.random({ 3, 1000 }, "f32")
    local path, other = helper.file(a, "a.npy"), helper.file(a, "b.npy")
    assert.equal(0, arrays.relative(path, other))
    local x = arrays.read(path)
    local y = a:sub(1, -5) .. ("<f"):pack(x.values[3000] + 1)
    local squares = 0
    for _, value in ipairs(x.values) do squares = squares + value * value end
    local found = arrays.relative(path, helper.file(y, "c.npy"))
    assert.is_true(math.abs(found - 1 / math.sqrt(squares)) < 1e-6)
    assert.equal(math.huge, arrays.relative(path, helper.file(a:sub(1, -5) .. ("<f"):pack(0 / 0), "d.npy")))
  end)
end)

describe("the cost of two variants", function()
  local cost = require("commands.quality.cost")

  -- Returns the cost, and how often each variant was timed, if the first `busy` turns are disturbed.
  local function measured(busy)
    local turns = 0
    local found = cost.measure({ f32 = "plain", other = "quick" }, "w", function(program)
      turns = turns + (program == "plain" and 1 or 0)
      local ms = program == "plain" and 4 or 1
      return 0, dkjson.encode { entry = "e", ms_min = turns > busy and ms or 2 * ms, ms_median = turns > busy and ms
        or 3 * ms, weight_bytes = 1, arena_bytes = 1, state_bytes = program == "plain" and 8 or 2 }
    end)
    return found, turns
  end

  it("is timed twice, and again where other work disturbs that, which is said at last", function()
    for busy, wanted in pairs { [0] = 2, 3, 4, 5 } do
      local found, turns = measured(busy)
      assert.same({ wanted, 1, 4, 2, 8 }, { turns, found.ms, found.ms_f32, found.state_bytes, found.state_bytes_f32 })
      assert.is_nil(found.disturbed)
    end
    local found, turns = measured(9)
    assert.same({ 5, 2 }, { turns, found.ms })
    assert.matches("^Other work disturbed the timing: half of the calls took ", found.disturbed)
    assert.truthy(measured(4).disturbed)
  end)
end)
