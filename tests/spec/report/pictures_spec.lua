-- pictures_spec: what pictures are made of: the graph, the masks' blocks, the arena, a check, a profile; each picture
-- keeps its texts apart at both widths.
local helper = require("tests.spec.helper")
local architecture = require("report.architecture")
local bars = require("report.bars")
local comparison = require("report.comparison")
local document = require("report.document")
local exactness = require("report.exactness")
local masks = require("report.masks")
local memory = require("report.memory")
local op_words = require("report.op_words")
local ops = require("data.ops")
local page = require("report.page")
local pipeline = require("pipeline")
local roofline = require("report.roofline")
local time = require("report.time")
local work = require("report.work")

local function apart(picture)
  for i, a in ipairs(picture.boxes) do
    assert.is_true(a[1] >= -1 and a[3] <= picture.width + 1, "a text leaves the picture")
    for j = i + 1, #picture.boxes do
      local b = picture.boxes[j]
      assert.is_false(a[1] < b[3] - 1 and b[1] < a[3] - 1 and a[2] < b[4] - 1 and b[2] < a[4] - 1,
        ("texts %d and %d overlap"):format(i, j))
    end
  end
  return picture
end

local function both(draw) for _, width in ipairs { page.WIDE, page.NARROW } do apart(draw(width)) end end

local entry = helper.tiny { layers = 3, seq = 32, d_model = 32, mask = "causal" }
local list = work.of(entry)

-- Returns results of bench: each operation that is on no other's tile takes a millisecond.
local function bench_of(all)
  local results, sum = {}, 0
  for i, each in ipairs(all) do
    results[i] = { name = each.name, ms = each.fused and 0 or 1 }
    sum = sum + results[i].ms
  end
  return { model = "tiny", entry = "forward", target = "avx512", precision = "f32", threads = 1, ms_median = sum,
    ms_min = sum, ms_p95 = sum, ms_p99 = sum, ms_percentiles = { sum, sum, 3 * sum }, reps = 3, flops = 1e6, gflops = 1,
    roof_gflops = 100, roof_fraction = 0.01, peak_gflops = 110, arena_bytes = 1, weight_bytes = 1, kernels = 1,
    bound_ms = 1, bound_fraction = 0.5, bound = {}, open_ms = 1, first_ms = 1,
    profile = { profiled_ms = sum, memory_gb_per_s = 10, ops = { { name = "linear", ms = sum, share = 1 } },
      results = results } }
end

describe("work", function()
  it("counts each tensor once, and what is done on a tile with its product", function()
    local q
    for _, each in ipairs(list) do if each.name == "l0.attn.q" then q = each end end
    assert.equal("product", q.kind)
    assert.equal(2 * 32 * 32 * 32, q.arithmetic)
    assert.equal(4 * (32 * 32 + 32 * 32 + 32 + 32 * 32), q.bytes) -- x, weight, bias, result
    for _, each in ipairs(list) do
      if each.name == "l0.ff.up" then -- x, weight, bias, and what the activation on its tile makes
        assert.equal(4 * (32 * 32 + 128 * 32 + 128 + 32 * 128), each.bytes)
      end
      assert.equal(each.fused == nil, each.bytes > 0, each.name)
    end
  end)

  it("adds up the bound of the parts that bench prints, among the workers", function()
    local printed, names = {}, {}
    for _, each in ipairs(list) do for name in pairs(each.parts) do names[name] = true end end
    for name in pairs(names) do printed[#printed + 1] = { name = name, us = 1000 } end
    local all = work.bound(list, printed, 2)
    for i, each in ipairs(list) do
      local calls = 0
      for _, n in pairs(each.parts) do calls = calls + n end
      assert.near(calls / 2, all[i], 1e-9)
      if not each.fused then assert.is_true(calls > 0, each.name) end
    end
    assert.is_nil(work.bound(list, {}, 1))
  end)

  it("knows the parts of the bound by the names that the emitted program has for them", function()
    local state, text = helper.tiny { layers = 1, seq = 32, d_model = 32 }, nil
    for _, file in ipairs(state.files) do if file.name == "tiny_program.c" then text = file.text end end
    for _, each in ipairs(work.of(state)) do
      for name in pairs(each.parts) do assert.truthy(text:find('"' .. name .. '"', 1, true), name) end
    end
  end)
end)

describe("words", function()
  it("of operations are plain, and those of none else", function()
    for name in pairs(ops.table) do assert.is_nil(op_words.of(name):find("_", 1, true), name) end
    for _, name in ipairs(op_words.names()) do assert.truthy(ops.table[name], name) end
    assert.equal("a name of a file", op_words.of("a_name_of_a_file"))
  end)
end)

describe("bars", function()
  local options = { parts = { { name = "a", colour = 1 }, { name = "b", colour = 2 } }, left = 84,
    unit = { scale = 1, title = "ms" }, text = tostring }

  it("are as long as their parts together", function()
    local picture = apart(bars.picture({ { name = "x", parts = { a = 3, b = 1 } }, { name = "y", parts = { b = 2 } } },
      options, page.WIDE))
    local widths = {}
    for w, class in table.concat(picture.parts):gmatch('width="([^"]+)" height="18" class="(t%d)"') do
      widths[#widths + 1] = class .. " " .. w
    end
    local whole = page.WIDE - 66 - 84
    assert.same({ ("t1 %.1f"):format(0.75 * whole), ("t2 %.1f"):format(0.25 * whole), ("t2 %d"):format(0.5 * whole) },
      widths)
  end)

  it("are no more than a picture has room for, also without any length", function()
    local rows = {}
    for i = 1, 60 do rows[i] = { name = "row " .. i, parts = { a = 0 } } end
    both(function(width) return bars.picture(rows, options, width) end)
    local text = table.concat(bars.picture(rows, options, page.WIDE).parts)
    assert.truthy(text:find("and 12 more, in the table", 1, true))
  end)
end)

describe("work of another number type", function()
  local function find(all, name) for _, each in ipairs(all) do if each.name == name then return each end end end

  it("has the bytes of that type, and what is rounded on a tile with its product", function()
    local halves = work.of(helper.tiny { layers = 1, seq = 32, d_model = 32, target = "avx512bf16",
      precision = "bf16" })
    local q = find(halves, "l0.attn.q")
    assert.equal(2 * (32 * 32 + 32 * 32) + 4 * 32 + 2 * 32 * 32, q.bytes) -- x, weight, bias, the rounded result
    assert.equal(q.op, find(halves, "l0.attn.q.bf16").fused)
    local integers = work.of(helper.tiny { layers = 1, seq = 32, d_model = 32, target = "avx512", precision = "int8" })
    assert.equal("int8", find(integers, "l0.attn.q.sums").type)
    assert.equal("f32", find(integers, "l0.attn.scores").type)
    assert.equal("f32", find(integers, "l0.norm1").type)
    assert.equal("bf16", q.type)
    assert.equal("bf16", find(halves, "l0.attn.scores").type)
    local norm = find(integers, "l0.norm1")
    assert.equal(norm.op, find(integers, "l0.norm1.int8").fused)
    assert.equal(norm.op, find(integers, "l0.norm1.scale").fused)
    -- x, gain, shift; the result, which is added later; its scales and integers.
    assert.equal(4 * (32 * 32 + 2 * 32 + 32 * 32 + 32) + 32 * 32, norm.bytes)
    assert.is_true(find(integers, "in.hidden.scale").arithmetic >= 32 * 32)
    for _, each in ipairs { halves, integers } do
      for _, one in ipairs(each) do assert.equal(one.fused == nil, one.bytes > 0, one.name) end
    end
  end)

  it("counts of a sequence of which one row is taken that row", function()
    local own = work.of(helper.tiny { layers = 1, seq = 32, output = { { stage = "pool", over = "first" } } })
    local pool = find(own, "l0.attn.context.first")
    assert.same({ 0, 2 * work.bytes(pool.op.result) }, { pool.arithmetic, pool.bytes })
  end)

  it("counts of a mask's scores those that are emitted", function()
    local own = helper.tiny { layers = 1, seq = 512, mask = "window", window = { 8, 8 } }
    local softmax = find(work.of(own), "l0.attn.weights")
    local heads = softmax.op.result.shape[2]
    local one = masks.of(own)[1]
    assert.is_true(one.emitted < 0.3 * 512 * 512)
    assert.near(15 * heads * one.emitted, softmax.arithmetic, 1)
  end)
end)

describe("the architecture", function()
  it("draws layers that are alike once", function()
    local groups = architecture.groups(list)
    assert.equal(1, #groups)
    assert.equal("layers 0 to 2: 3 times", architecture.title(groups[1]))
    local differs = work.of(helper.tiny { layers = { {}, {}, { mask = "causal" } } })
    assert.equal(2, #architecture.groups(differs))
  end)

  it("keeps its texts apart", function()
    both(function(width) return architecture.picture(entry, list, width) end)
    local integers = helper.tiny { precision = "int8" } -- on narrow screens the names need rows of two
    local narrow = architecture.picture(integers, work.of(integers), page.NARROW)
    assert.is_nil(table.concat(narrow.parts):find("…</text>", 1, true))
    both(function(width) return architecture.picture(integers, work.of(integers), width) end)
    local other = helper.tiny { gated = true, activation = "silu", positions = "rope",
      norm = "pre", final_norm = true, mask = "padding" }
    both(function(width) return architecture.picture(other, work.of(other), width) end)
  end)
end)

describe("models of each kind", function()
  for name, list_of_overrides in pairs { transformer_seq2seq = { "layers=2" }, vit_b16 = { "layers=2",
    "attention_output=heads" }, mha = {},
    bert_relative = { "layers=2" }, blip_text_decoder = { "layers=2" }, paramfree_classifier = {}, worked_example = {},
    small = { "layers=0" } } do
    it("are drawn with their texts apart: " .. name, function()
      local state = pipeline.run(helper.root, ("%s/models/%s.lua"):format(helper.root, name), list_of_overrides)
      local own = state.primary
      local all, shown = work.of(own), masks.of(own)
      both(function(width) return architecture.picture(own, all, width) end)
      if #shown > 0 then both(function(width) return masks.picture(shown, width) end) end
      both(function(width) return memory.picture(memory.map(own), width) end)
      local seen = {}
      for _, row in ipairs(architecture.rows(all)) do seen[row[1]] = true end
      assert.equal(#own.graph.entry.ops > 0, next(seen) ~= nil)
    end)
  end
end)

describe("masks", function()
  it("have the blocks that are emitted, and what is seen of them", function()
    local one = masks.of(entry)[1]
    assert.equal(3, one.layers)
    assert.equal(32 * 33 // 2, one.visible)
    assert.is_true(one.emitted >= one.visible and one.emitted <= 32 * 32)
    local seen = 0
    for query = 0, 31 do
      local first, last = masks.seen(one, query)
      assert.same({ 0, query + 1 }, { first, last })
      seen = seen + last - first
    end
    assert.equal(one.visible, seen)
    both(function(width) return masks.picture({ one }, width) end)
  end)

  it("of windows and prefixes see what the operation counts", function()
    for _, more in ipairs { { mask = "window", window = { 3, 2 } }, { mask = { "causal", "prefix" }, prefix = 5 },
      { mask = { "causal", "window" }, window = { 4, 0 } }, { mask = "causal", past = 4 }, { bias_kv = true } } do
      more.seq = 16
      local one = masks.of(helper.tiny(more))[1]
      local seen = 0
      for query = 0, one.queries - 1 do
        local first, last = masks.seen(one, query)
        seen = seen + last - first + one.extra
      end
      assert.equal(one.visible, seen, tostring(more.mask))
    end
  end)
end)

describe("the memory map", function()
  local map = memory.map(entry)

  it("has every buffer within the arena, and the peak of the memory pass", function()
    local sum = 0
    for _, item in ipairs(map.items) do
      assert.is_true(item.offset + item.bytes <= map.bytes)
      assert.is_true(1 <= item.first and item.first <= item.last and item.last <= map.steps)
      if item.at_peak then sum = sum + item.bytes end
    end
    assert.equal(map.peak.bytes, sum)
    local most = 0
    for step = 1, map.steps do
      local live = 0
      for _, item in ipairs(map.items) do
        if item.first <= step and step <= item.last then live = live + item.bytes end
      end
      most = math.max(most, live)
    end
    assert.equal(most, map.peak.bytes)
    assert.is_true(map.peak.bytes <= map.live_bytes)
    both(function(width) return memory.picture(map, width) end)
  end)

  it("is drawn once more around the peak where that is a small part of a call", function()
    local deep = memory.map(helper.tiny { layers = 12, seq = 32, d_model = 32 })
    local first, last = memory.around_peak(deep)
    assert.is_true(1 <= first and first <= deep.peak.step and deep.peak.step <= last and last <= deep.steps)
    assert.is_true(3 * (last - first) < deep.steps)
    both(function(width)
      local picture = memory.picture(deep, width, first, last)
      for x, w in table.concat(picture.parts):gmatch('<rect x="([^"]+)" y="[^"]+" width="([^"]+)"') do
        assert.is_true(tonumber(x) + tonumber(w) <= width)
      end
      return picture
    end)
    assert.is_nil(memory.around_peak(memory.map(helper.tiny { layers = 1, seq = 32, d_model = 32 })))
  end)

  it("adds the weights of the layers up to the packed block", function()
    local bytes, rows = 0, memory.weights(entry)
    for _, row in ipairs(rows) do
      bytes = bytes + row.bytes
      assert.is_true(row.plain_bytes + row.constant_bytes <= row.bytes)
    end
    assert.equal(entry.weights.bytes, bytes)
    assert.same({ "layer 0", "layer 1", "layer 2" }, { rows[1].name, rows[2].name, rows[3].name })
    both(function(width) return memory.weight_bars(rows, width) end)
  end)
end)

describe("times", function()
  local bench = bench_of(list)
  local subject = { label = "tiny", work = list, bench = bench }

  it("add up to the profile", function()
    local sum = 0
    for _, section in ipairs(time.sections(subject)) do
      local parts = 0
      for _, ms in pairs(section.parts) do parts = parts + ms end
      assert.near(section.ms, parts, 1e-9)
      sum = sum + section.ms
    end
    assert.near(bench.profile.profiled_ms, sum, 1e-9)
    both(function(width) return time.bars(time.sections(subject), width) end)
    both(function(width) return time.strip(time.longest(time.sections(subject)), width) end)
    both(function(width) return time.percentiles(bench, width) end)
  end)

  it("are said to be disturbed where half of the calls took much longer than the quickest", function()
    assert.is_nil(document.disturbed { bench = { ms_median = 1.2, ms_min = 1 } })
    assert.matches("half of the calls took 2%.00 ms or more, the quickest 1%.00 ms",
      document.disturbed { bench = { ms_median = 2, ms_min = 1 } })
    assert.is_nil(document.disturbed {})
    assert.matches("one call in twenty took 9%.00 ms or more, the median is 1%.00 ms",
      document.disturbed { bench = { ms_median = 1, ms_min = 1, ms_p95 = 9 } })
    local verdict = document.verdict { bench = { ms_median = 2, ms_min = 1, roof_fraction = 0.41 } }
    assert.matches("41%% of this machine's peak, disturbed by other work$", verdict)
    assert.matches("41%% of this machine's peak$",
      document.verdict { bench = { ms_median = 1, ms_min = 1, roof_fraction = 0.41 } })
  end)

  it("are said to be disturbed where equal layers took times that are far apart", function()
    local even, odd, layers = bench_of(list), bench_of(list), 0
    for i, each in ipairs(list) do
      even.profile.results[i].ms, odd.profile.results[i].ms = 1, each.section == "layer 0" and 3 or 1
      layers = math.max(layers, (tonumber(each.section:match("^layer (%d+)")) or 0) + 1)
    end
    assert.is_true(layers > 1)
    for _, each in ipairs { even, odd } do each.ms_median, each.ms_min, each.ms_p95 = 1, 1, 1 end
    assert.is_nil(document.disturbed { bench = even, work = list })
    assert.matches("one layer took 3%.0 times as long",
      document.disturbed { bench = odd, work = list })
  end)

  it("stand beside a bound that is far above or below", function()
    local rows = { { role = "attn.q", ms = 1, bound = 200 }, { role = "a.long.name.of.an.operation", ms = 100,
      bound = 1 },
      { role = "x", ms = 1e-6, bound = 200 } }
    both(function(width) return time.bound_bars(rows, width) end)
  end)

  it("of threads are work and waiting", function()
    local profile = { call_us = 100, parts = { { phase = 0, part = 0, thread = 0, begin_us = 0, end_us = 60 },
      { phase = 0, part = 1, thread = 1, begin_us = 10, end_us = 40 }, { phase = 1, part = 0, thread = 0, begin_us = 61,
        end_us = 100 } } }
    local threads, phases = time.threads(profile, 3)
    assert.equal(2, phases)
    assert.same({ 99, 30 }, { threads[1].busy, threads[2].busy })
    assert.same({ 1, 70, 100 }, { threads[1].waiting, threads[2].waiting, threads[3].waiting })
    both(function(width) return time.thread_lanes(profile, 3, width) end)
  end)

  it("have points below a roof, those of all layers together", function()
    local points = roofline.points(subject)
    local share = 0
    for _, point in ipairs(points) do
      share = share + point.share
      assert.equal(3, point.count)
    end
    assert.near(1, share, 1e-9)
    local alone = { { label = "a", points = points, bench = bench, type = "f32" } }
    both(function(width) return roofline.picture(alone, width) end)
    both(function(width)
      return roofline.picture({ { label = "seq=1", points = points, bench = bench, type = "f32" },
        { label = "seq=2", points = points, bench = bench, type = "f32" } }, width)
    end)
  end)

  it("have a roof for each number type, and no point above the picture", function()
    local quick = bench_of(list)
    quick.precision, quick.roof_gflops, quick.peak_gflops = "int8", 400, nil
    local points = roofline.points(subject)
    points[1].gflops = 5000
    local all = { { label = "a", points = points, bench = bench, type = "f32" },
      { label = "b", points = points, bench = quick, type = "int8" },
      { label = "c", points = points, bench = bench, type = "f32" } }
    local roofs = roofline.roofs(all)
    assert.same({ { 400, "int8" }, { 100, "f32" } }, { { roofs[1].gflops, roofs[1].types[1] },
      { roofs[2].gflops, roofs[2].types[1] } })
    assert.near(0.5, roofline.fraction({ type = "int8", gflops = 200 }, all[2], roofs), 1e-9)
    assert.near(0.5, roofline.fraction({ type = "f32", gflops = 50 }, all[2], roofs), 1e-9)
    assert.is_nil(roofline.fraction({ type = "bf16", gflops = 50 }, all[2], roofs))
    assert.is_nil(roofline.fraction({ type = "f32", gflops = 50 }, all[2], roofline.roofs { all[2] }))
    both(function(width)
      local picture = roofline.picture(all, width)
      for cy in table.concat(picture.parts):gmatch(' cy="([^"]+)"') do assert.is_true(tonumber(cy) > 0) end
      return picture
    end)
  end)

  it("share a roof where the lines of two number types would lie on one another", function()
    local function names(gflops)
      local other = bench_of(list)
      other.roof_gflops = gflops
      local said = {}
      for i, roof in ipairs(roofline.roofs { { bench = bench, type = "f32" }, { bench = other, type = "bf16" } }) do
        said[i] = table.concat(roof.types, " ")
      end
      return said
    end
    assert.same({ "bf16 f32" }, names(105))
    assert.same({ "bf16", "f32" }, names(130))
  end)

  it("of several subjects stand side by side, with their ratio where there are two", function()
    local slower = bench_of(list)
    slower.ms_median = 2 * bench.ms_median
    local _, rows = comparison.pair { subject, { label = "slower", bench = slower } }
    local found
    for _, row in ipairs(rows) do if row[1] == "ms, median" then found = row end end
    assert.is_true(found.differs)
    assert.equal("2.00, worse", found[4])
    local columns, several, same = comparison.several { subject, subject, { label = "slower", bench = slower } }
    assert.equal(3, #several)
    assert.equal("ms, median", columns[2][1])
    assert.is_true(#same > 3)
    local named = bench_of(list) -- as other files may name them: alike on a page, or as what is left over
    named.profile.ops = { { name = "a_b", ms = 3 }, { name = "a b", ms = 1 }, { name = "others", ms = 2 } }
    for i = 1, 6 do named.profile.ops[3 + i] = { name = "op" .. i, ms = 0.5 } end
    local text = table.concat(comparison.bars({ { label = "named", bench = named } }, page.WIDE).parts)
    assert.truthy(text:find(">9.00 ms</text>", 1, true))
    assert.truthy(text:find("named, a b: 4.00 ms, 44% of it", 1, true))
    local long = bench_of(list)
    for i = 1, 9 do long.profile.ops[i] = { name = "op" .. i, ms = i } end
    both(function(width)
      return comparison.bars({ subject, { label = ("long "):rep(20), bench = long } }, width)
    end)
    both(function(width) return comparison.bars({ subject, { label = "slower", bench = slower } }, width) end)
  end)
end)

describe("details", function()
  it("are left out of a page that would be too large, but those of the first never", function()
    local all = {}
    for i = 1, 3 do
      all[i] = { number = i, { label = "<" .. i, state = entry, work = list, spec = entry.spec,
        bench = bench_of(list), is_main = true } }
    end
    local lists, left_out = document.details(all, 1.9e6)
    assert.same({ "<2", "<3" }, left_out)
    assert.equal(1, #lists.time)
    lists, left_out = document.details(all, 0)
    assert.same({}, left_out)
    assert.equal(3, #lists.memory)
  end)

  it("of a model's entries are all there, the main one's first, and the others hidden", function()
    local group = { number = 7 }
    for i, choice in ipairs { 2, 1, 3 } do
      group[i] = { label = "entry " .. choice, state = entry, work = list, spec = entry.spec, bench = bench_of(list),
        is_main = i == 1, choice = choice }
    end
    local lists = document.details({ group }, 0)
    assert.equal(3, #lists.time)
    assert.matches('^<div data%-group="7" data%-choice="2"><h3>entry 2</h3>', lists.time[1])
    assert.matches('^<div data%-group="7" data%-choice="1" hidden><h3>entry 1</h3>', lists.time[2])
    assert.matches('^<div data%-group="7" data%-choice="3" hidden>', lists.memory[3])
  end)
end)

describe("a row of bench in a user's file", function()
  local good = { ms_median = 1, flops = 2, gflops = 3, roof_gflops = 4, model = "m" }

  it("has what is of the right type, and no more", function()
    local row = comparison.bench { ms_median = 1, flops = 2, gflops = 3, roof_gflops = 4, model = {}, threads = "x",
      profile = { ops = { { name = "linear", ms = 1 }, { name = 5, ms = 1 }, { name = "a", ms = 0 / 0 }, 7 } } }
    assert.same({ ms_median = 1, flops = 2, gflops = 3, roof_gflops = 4,
      profile = { ops = { { name = "linear", ms = 1 } } } }, row)
    for _, profile in ipairs { 5, "x", { ops = 5 } } do
      assert.same({ ops = {} }, comparison.bench { ms_median = 1, flops = 2, gflops = 3, roof_gflops = 4,
        profile = profile }.profile)
    end
  end)

  it("is none without its four numbers", function()
    assert.truthy(comparison.bench(good))
    for _, key in ipairs { "ms_median", "flops", "gflops", "roof_gflops" } do
      local copy = {}
      for name, value in pairs(good) do copy[name] = value end
      copy[key] = "3"
      assert.is_nil(comparison.bench(copy))
    end
    assert.is_nil(comparison.bench(5))
  end)
end)

describe("exactness", function()
  local check = { passed = 2, failed = 1, tensors = {
    { name = "a", op = "linear", allowed = 1e-6, share = 0.5, passed = true, max_abs = 5e-7, rel_l2 = 1e-8 },
    { name = "b", op = "add", allowed = 0, share = 0, passed = true, max_abs = 0, rel_l2 = 0 },
    { name = "c", op = "linear", allowed = 1e-6, share = "inf", passed = false, max_abs = "nan", rel_l2 = "inf" },
    { name = "output a, end to end", allowed = 1e-5, share = 0.1, passed = true, max_abs = 1e-6, rel_l2 = 1e-7 } } }

  it("shows errors beside what they may be, also those that no axis has", function()
    local rows, others = exactness.rows(check)
    assert.equal(3, #rows)
    assert.equal(1, #others)
    assert.near(5e-7, rows[1].error, 1e-12)
    assert.equal("c", exactness.worst(check).name)
    both(function(width) return exactness.picture(rows, width) end)
    assert.equal("FAIL", exactness.table(check)[3][9])
  end)

  it("tells of no more tensors than a page has room for, but of each that failed", function()
    local many = { tensors = {} }
    for i = 1, 2000 do
      many.tensors[i] = { name = "t" .. i, op = "linear", expected = 1, allowed = 1e-6, share = i / 4000,
        passed = true }
    end
    many.tensors[7].share, many.tensors[7].passed = 1.5, false
    local listed, left_out = exactness.table(many)
    assert.equal(2000, #listed + left_out)
    assert.equal("t7", listed[1][1])
    assert.equal("t1202", listed[2][1])
    both(function(width)
      local picture = exactness.picture((exactness.rows(many)), width)
      local _, tips = table.concat(picture.parts):gsub("<title>", "")
      assert.equal(#listed, tips)
      return picture
    end)
  end)

  it("divides an error by the element's size, or by what it is allowed where that is larger", function()
    local rows = exactness.rows { tensors = {
      { name = "a", op = "softmax", expected = 1e-36, allowed = 1e-42, share = 0.5, passed = true },
      { name = "b", op = "add", expected = 0, allowed = 1e-9, share = 0.5, passed = true } } }
    assert.near(5e-7, rows[1].relative_error, 1e-12)
    assert.near(0.5, rows[2].relative_error, 1e-12)
  end)

  it("of a number type has a line an output, also where a number is none", function()
    local outputs = { { name = "logits", shape = { 1, 3 }, cosine = 0.99, relative = 0.01, largest = 0.2, top = 1 },
      { name = "labels", shape = { 1 }, top = 0.5 },
      { name = "states", shape = { 2 }, cosine = 1, relative = 0, largest = math.huge } }
    both(function(width) return exactness.quality_picture(outputs, width) end)
    both(function(width) return exactness.quality_picture({ outputs[2] }, width) end)
    assert.same({ "labels", "1", "–", "–", "50.0%", "–" }, exactness.quality_rows(outputs)[2])
  end)
end)
