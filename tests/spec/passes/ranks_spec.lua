-- ranks_spec: how a model is divided among ranks: heads, widths and rows of tables, weights in slices, meetings.
local helper = require("tests.spec.helper")
local cutting = require("passes.ranks.cut")
local divisions = require("data.divisions")
local grouping = require("passes.common.grouping")
local ops = require("data.ops")
local ranks = require("passes.ranks")

-- Returns the model's state after a pass.
local function model(more, last)
  local primary = helper.state(helper.description(more), last or "ranks")
  return getmetatable(primary).__index
end

-- Returns the graph of a rank.
local function graph_of(state, rank)
  for _, build in ipairs(state.builds) do
    for _, member in ipairs(build.members) do
      if member.rank == rank then return member.primary.graph end
    end
  end
end

-- Returns the meetings of a rank, NAME = OP each.
local function meetings(graph)
  local list = {}
  for _, op in ipairs(graph.entry.ops) do
    if ops.class(op).meeting then list[#list + 1] = op.result.name .. " = " .. op.op end
  end
  return list
end

describe("a division", function()
  it("is as even as whole units allow, and covers all elements", function()
    assert.same({ 0, 2, 3 }, divisions.even(3, 2, 1))
    assert.same({ 0, 32, 64, 96 }, divisions.even(96, 3, 32))
    assert.same({ 0, 52, 100 }, divisions.even(100, 2, divisions.unit(100, 2)))
    for n = 1, 70 do
      for count = 1, math.min(n, 9) do
        local first = divisions.even(n, count, divisions.unit(n, count))
        assert.same({ 0, n }, { first[1], first[count + 1] })
        for i = 1, count do
          local size = first[i + 1] - first[i]
          assert.is_true(size >= 1 and size <= 2 * (n / count + 1), ("%d among %d"):format(n, count))
        end
      end
    end
  end)

  it("gives ranks copies of heads of keys where they are more than these", function()
    local queries, keys = divisions.heads(6, 2, 4)
    assert.same({ 0, 2, 3, 5, 6 }, queries)
    assert.same({ 0, 1, 2, copies = 2 }, keys)
    assert.same({ 1, 1 }, { divisions.range(keys, 3) })
    assert.same({ 0, 1, 1, 2, 2 }, divisions.of_ranks(keys))
    assert.same({ { 0, 4, 6 }, { 0, 2, 3 } }, { divisions.heads(6, 3, 2) })
    assert.is_nil(divisions.heads(6, 2, 3))
    assert.is_nil(divisions.heads(4, 4, 8))
  end)

  it("keeps a line of a cache together in large models", function()
    assert.equal(32, divisions.unit(1536, 2))
    assert.equal(1, divisions.unit(12, 4))
  end)
end)

describe("stages", function()
  it("have one section of what comes after a pool, also if the outputs pool twice", function()
    local entry = graph_of(model { layers = { {}, {} }, batch = 2, stages = 2, seq = 5,
      input = { stage = "image", channels = 1, height = 4, width = 4, patch = 2 },
      output = { { stage = "attend" }, { stage = "similarity" } } }, 1).entry
    local segments = grouping.segments({ batch = 2, seq = 5 }, entry, { group_tokens = 128 })
    assert.equal("pooled", segments[2].name)
    assert.equal(1, #segments[2].sections)
  end)

  local function sizes_of(state)
    local of, sizes = state.whole.stages.layers, {}
    for _, layer in ipairs(of.layers) do sizes[of.of[layer] + 1] = (sizes[of.of[layer] + 1] or 0) + 1 end
    return sizes
  end

  it("have neighbouring layers, as evenly by bytes as whole layers allow", function()
    assert.same({ 2, 3 }, sizes_of(model { layers = { {}, {}, {}, {}, {} }, stages = 2 }))
    assert.same({ 1, 1, 1 }, sizes_of(model { layers = { {}, {}, {} }, stages = 3 }))
    local wide = { d_ff = 400 }
    assert.same({ 1, 4 }, sizes_of(model { layers = { wide, {}, {}, {}, {} }, stages = 2 }))
    assert.same({ 4, 1 }, sizes_of(model { layers = { {}, {}, {}, {}, wide }, stages = 2 }))
  end)

  it("have weights of their own layers alone, and pass the states on", function()
    local state = model { layers = { {}, {}, {} }, stages = 3, ranks = 2 }
    assert.same({ "l0.attn.out = sum_ranks", "l0.ff.down = sum_ranks", "l0.norm2.passed = pass_on",
      "l2.norm2 = take_output" }, meetings(graph_of(state, 1)))
    assert.same({ "l0.norm2 = take_on", "l1.attn.out = sum_ranks", "l1.ff.down = sum_ranks",
      "l1.norm2.passed = pass_on", "l2.norm2 = take_output" }, meetings(graph_of(state, 2)))
    assert.same({ "l1.norm2 = take_on", "l2.attn.out = sum_ranks", "l2.ff.down = sum_ranks",
      "l2.norm2.given = give_output" }, meetings(graph_of(state, 5)))
    for rank = 0, 5 do
      local layer = ("^l%d%%."):format(rank // 2)
      for _, name in ipairs(graph_of(state, rank).weights) do assert.matches(layer, name) end
    end
  end)

  it("repeat roundings, pass on what later ones read, and number windows alike", function()
    local rounded = model { layers = { {}, {} }, stages = 2, precision = "bf16" }
    assert.same({ "l0.norm2.passed = pass_on", "l1.norm2 = take_output" }, meetings(graph_of(rounded, 0)))
    local blocks = model { layers = { {}, {} }, stages = 2, weights = "int8" }
    assert.same({ "l0.norm2.passed = pass_on", "l1.norm2 = take_output" }, meetings(graph_of(blocks, 0)))
    local windows = model({ layers = { {}, { window = { 3, 0 }, mask = { "causal", "window" } }, {} }, stages = 3,
      context = 1024, mask = "causal", chunk = 4, input = { stage = "tokens", vocab = 40 },
      output = { { stage = "vocabulary" } } }, "plan")
    for _, build in ipairs(windows.builds) do assert.equal(1, #build.kept.windows) end
  end)

  it("choose rows for a layer where it is computed, so that both sides pass rows on in the same loops", function()
    local state = model { layers = { {}, {} }, batch = 2, stages = 2, projections = false, input = { stage = "tokens",
      vocab = 7 }, output = { { stage = "pool", over = "last" } } }
    assert.same({ "l0.norm2.passed = pass_on", "l1.norm2 = take_output" }, meetings(graph_of(state, 0)))
    assert.same({ "l0.norm2 = take_on", "l1.norm2.given = give_output" }, meetings(graph_of(state, 1)))
  end)

  it("leave an operation on an output to the last one, also where nobody reads its result", function()
    local state = model { layers = { {}, {} }, stages = 2, output = { { stage = "pool", over = "max", name = "ids" },
      { stage = "gelu" }, { stage = "similarity" } } }
    assert.equal(1, state.whole.stages.made.forward["output.2.gelu"])
  end)

  it("are at most as many as layers, and in the dump", function()
    local function refusal(more)
      local lines = helper.refusals(helper.description(more))
      assert.equal(1, #lines)
      return lines[1]
    end
    assert.equal("stages: 3, but the model has 2 layers; give at most that number",
      refusal { layers = { {}, {} }, stages = 3 })
    assert.equal("threads: 1 is allowed with ranks and stages: give a rank for each core",
      refusal { layers = { {}, {} }, stages = 2, threads = 2 })
    assert.matches("^attention_output: does not go with stages",
      refusal { layers = { {}, {} }, stages = 2, attention_output = "heads" })
    assert.matches("^target: a list does not go with stages", refusal { stages = 2, target = { "avx512", "avx2" } })
    local text = ranks.dump(model { layers = { {}, {} }, stages = 2 })
    assert.matches("^2 stages of 1 rank\n  stage 0: l0   %d+ bytes of weights of layers\n", text)
    assert.matches("\n  pass_on%(l0.norm2%)   %[1, %d+, 16%]\n", text)
  end)
end)

describe("ranks", function()
  local writing = { heads = 6, kv_heads = 3, d_model = 48, d_ff = 64, context = 16, mask = "causal", norm = "pre",
    input = { stage = "tokens", vocab = 40 }, positions = "rope", output = { { stage = "vocabulary" } } }

  local function with(more)
    local all = {}
    for key, value in pairs(writing) do all[key] = value end
    for key, value in pairs(more) do all[key] = value end
    return all
  end

  it("leave a model that nobody divides as it is", function()
    local state = model {}
    assert.is_nil(state.whole)
    assert.equal(state, state.builds[1])
    assert.equal("one process computes the model: its description has no ranks\n", ranks.dump(state))
    assert.is_nil(model({ ranks = 1 }).whole)
  end)

  it("have their heads of keys with the heads of queries that read them", function()
    local state = model(with { ranks = 2 })
    assert.equal(2, #state.builds)
    local shapes = {}
    for rank = 0, 1 do
      local graph = graph_of(state, rank)
      local scores = helper.op({ graph = graph }, "l0.attn.scores")
      shapes[rank + 1] = { graph.tensors["l0.attn.q"].shape[3], graph.tensors["l0.attn.k"].shape[3],
        scores.attributes.heads, graph.tensors["l0.ff.up"].shape[3] }
    end
    assert.same({ { 32, 16, 4, 32 }, { 16, 8, 2, 32 } }, shapes)
  end)

  it("have copies of heads of keys where they are more than these", function()
    local state = model(with { ranks = 6 })
    local shapes = {}
    for rank = 0, 5 do
      local graph = graph_of(state, rank)
      local k = graph.tensors["l0.attn.k.weight"]
      shapes[rank + 1] = { graph.tensors["l0.attn.q"].shape[3], graph.tensors["l0.attn.k"].shape[3], k.cut.from }
    end
    assert.same({ { 8, 8, 0 }, { 8, 8, 0 }, { 8, 8, 8 }, { 8, 8, 8 }, { 8, 8, 16 }, { 8, 8, 16 } }, shapes)
    assert.truthy(ranks.dump(state):find("l0.attn.k [1, 16, 24]: 0 to 7 of axis 3; 0 to 7 of axis 3; 8 to 15", 1, true))
  end)

  it("meet after attention and after the feed-forward, and for rows of the vocabulary", function()
    local expected = { "input.embedded = sum_ranks", "l0.attn.out = sum_ranks", "l0.ff.down = sum_ranks",
      "output.1.vocabulary = gather_ranks" }
    local state = model(with { ranks = 3 })
    for rank = 0, 2 do assert.same(expected, meetings(graph_of(state, rank))) end
  end)

  it("name the library of MPI that the build links", function()
    local function names(mpi)
      local state = helper.state(helper.description(with { ranks = 2 }), "emit", { mpi = mpi })
      for _, file in ipairs(state.files) do
        if file.name:find("%.pc$") then return file.text:match("Libs.private: (.-)\n") end
      end
      return nil
    end
    assert.equal("-lpthread -lm -lmpi", names(nil))
    assert.equal("-lpthread -lm -lmpich", names(function() return { "-L/somewhere", "-lmpich" } end))
  end)

  it("meet once in a layer whose attention and feed-forward are parallel", function()
    local state = model(with { ranks = 2, parallel = "one_norm" })
    assert.same({ "input.embedded = sum_ranks", "l0.ff.sum = sum_ranks", "output.1.vocabulary = gather_ranks" },
      meetings(graph_of(state, 1)))
  end)

  it("meet for each part of a sum that is an output, so that the sum is of what the outputs have", function()
    local more = helper.description { ranks = 2, norm = "pre", parallel = "one_norm" }
    local list = meetings(graph_of(getmetatable(helper.state(more, "ranks", { exposed = true })).__index, 1))
    local said = table.concat(list, ", ")
    assert.matches("l0.attn.out = sum_ranks, .*l0.ff.down = sum_ranks$", said)
    assert.is_nil(said:find("l0.ff.sum", 1, true))
  end)

  it("keep their parts of keys, and the scales of these, where inner tensors are outputs", function()
    for _, cache in ipairs { "f32", "int8", "int4" } do
      local input = { stage = "tokens", vocab = 20 }
      local more = helper.description { ranks = 2, input = input, context = 64, cache = cache, mask = "causal",
        memory = { stage = "encoder", input = input, seq = { any = 8 } } }
      local list = meetings(graph_of(getmetatable(helper.state(more, "emit", { exposed = true })).__index, 1))
      assert.is_nil(table.concat(list, ", "):find("%.scale = "), cache)
    end
  end)

  it("begin the sum of a block of rows before others are made", function()
    local function sums(more)
      local state, list = model(more, "lower"), {}
      for _, text in ipairs(helper.step_texts(state.builds[1].primary.programs[1])) do
        list[#list + 1] = text:match("^begin_sum.* (rows=%d+)") or text:match("^end_sums") or text:match("^sum_ranks")
      end
      return list
    end
    assert.same({ "sum_ranks", "sum_ranks" }, sums { ranks = 2 })
    local of_blocks = { "rows=4", "rows=4", "end_sums" }
    table.move(of_blocks, 1, 3, 4, of_blocks)
    assert.same(of_blocks, sums { ranks = 2, plan = { token_block = 4 } })
  end)

  it("share code where their shapes are the same, each with weights of its own", function()
    local state = model({ ranks = 2 }, "kernels")
    assert.equal(1, #state.builds)
    local first, second = table.unpack(state.builds[1].members)
    assert.equal(first.primary.programs, second.primary.programs)
    assert.same({ 0, 1 }, { first.rank, second.rank })
    local cut = {}
    for i, member in ipairs { first, second } do
      local q = member.primary.graph.tensors["l0.attn.q.weight"]
      local out = member.primary.graph.tensors["l0.attn.out.weight"]
      cut[i] = { q.cut.from, q.from.views[1].first, out.cut.from, out.from.views[1].first, out.from.views[1].row_step }
    end
    assert.same({ { 0, 0, 0, 0, 16 }, { 8, 8 * 16, 8, 8, 16 } }, cut)
  end)

  it("add the bias of a sum once", function()
    local state = model { ranks = 2 }
    local zeros = {}
    for rank = 0, 1 do
      local graph = graph_of(state, rank)
      zeros[rank + 1] = { graph.tensors["l0.attn.out.bias"].is_zero or false,
        graph.tensors["l0.attn.q.bias"].is_zero or false }
    end
    assert.same({ { false, false }, { true, false } }, zeros)
  end)

  it("have slopes, tables and factors of their own heads", function()
    local alibi = model { ranks = 2, heads = 4, positions = "alibi" }
    assert.equal("alibi -7 2 4", graph_of(alibi, 1).tensors["positions.alibi"].formula)
    local t5 = model { ranks = 2, heads = 4, positions = "t5" }
    assert.same({ 32, 2 }, graph_of(t5, 1).tensors["positions.bias.weight"].shape)
    local factors = model { ranks = 2, heads = 4, positions = "alibi",
      head_mask = { { 1, 0.5, 0.25, 2 } } }
    assert.equal("list 0.25 2", graph_of(factors, 1).tensors["l0.attn.factors"].formula)
    assert.equal(2, #factors.builds) -- their code has their factors
  end)

  it("normalise all heads together, and take their own", function()
    local state = model(with { ranks = 2, qk_norm = "all" })
    local list = meetings(graph_of(state, 1))
    assert.same({ "l0.attn.q = gather_ranks", "l0.attn.k = gather_ranks", "l0.attn.out = sum_ranks" },
      table.move(list, 2, 4, 1, {}))
    local own = helper.op({ graph = graph_of(state, 1) }, "l0.attn.k_norm")
    assert.same({ "own_columns", "l0.attn.k_norm.all", "0, 16", 8 }, { own.op, own.operands.x.name,
      own.attributes.starts, own.attributes.columns })
    local copies = helper.op({ graph = graph_of(model(with { ranks = 6, qk_norm = "all" }), 1) }, "l0.attn.k_norm")
    assert.equal("0, 0, 8, 8, 16, 16", copies.attributes.starts)
  end)

  it("keep the keys of a source of their own heads, and the scales of these", function()
    local state = model(with { ranks = 2, kv_heads = 6, cache = "int8", memory = { stage = "encoder", seq = { any = 8 },
      layers = 1, input = { stage = "tokens", vocab = 9 } } })
    for _, build in ipairs(state.builds) do
      for _, member in ipairs(build.members) do
        for i, entry in ipairs(member.entries) do
          local kept = entry.graph.tensors["l0.cross.k.kept"]
          assert.same({ 1, 8, 24 }, kept.shape)
          assert.same({ 1, 8, 3 }, entry.graph.tensors["l0.cross.k.scale"].shape)
          assert.equal(i == 1 and "scratch" or "state", kept.kind)
        end
      end
    end
  end)

  it("are in the dump, with the part of each and the meetings", function()
    local text = ranks.dump(model(with { ranks = 2 }))
    assert.truthy(text:find("l0.attn.q [1, 16, 48]: 0 to 31 of axis 3; 32 to 47 of axis 3", 1, true), text)
    assert.truthy(text:find("meetings of forward of rank 1\n  input.embedded = sum_ranks", 1, true), text)
  end)

  it("are refused where a model has fewer parts, and with what does not go with them", function()
    local function refusal(more)
      local lines = helper.refusals(helper.description(more))
      return lines[1]
    end
    assert.equal("ranks: 4, but there are 2 heads of keys; give at most that number", refusal { ranks = 4 })
    assert.equal("ranks: 4, but there are 3 heads of keys; give at most that number, or a multiple of it up "
      .. "to 6", refusal(with { ranks = 4 }))
    local encoder = { stage = "encoder", seq = { any = 8 }, layers = 1, heads = 3, kv_heads = 3, d_ff = 48 }
    assert.same({ "ranks: 6, but there are 3 heads of keys in the encoder; give at most that number" },
      helper.refusals(helper.description(with { ranks = 6, memory = encoder })))
    encoder.heads, encoder.kv_heads, encoder.d_ff = 6, 6, 1
    assert.same({ "ranks: 2, but d_ff in the encoder is 1; give at most that number" },
      helper.refusals(helper.description(with { ranks = 2, memory = encoder })))
    assert.equal("ranks: 2, but d_ff is 1; give at most that number", refusal { ranks = 2, d_ff = 1 })
    assert.equal("threads: 1 is allowed with ranks and stages: give a rank for each core",
      refusal { ranks = 2, threads = 2 })
    assert.matches("^precision: int8 does not go with ranks", refusal { ranks = 2, precision = "int8" })
    assert.equal("kernels: libxsmm does not go with ranks and experts, as all ranks must choose the same experts; "
      .. "give c", refusal { ranks = 2, kernels = "libxsmm", experts = { count = 4, used = 2, d_ff = 32 } })
    assert.matches("^past: does not go with ranks", refusal { ranks = 2, past = 2 })
    assert.matches("^target: a list does not go with ranks", refusal { ranks = 2, target = { "avx512", "avx2" } })
    assert.matches("^attention_output: does not go with ranks", refusal { ranks = 2, attention_output = "mean" })
    assert.is_nil(refusal { ranks = 2, weights = "int4", d_ff = 64, head_dim = 32 })
  end)

  it("are refused with factors of calibrate", function()
    local state = model({}, "graph")
    state.spec.ranks, state.spec.processes, state.factors = 2, 2, { file = "m.factors" }
    state.primary.graph.smoothing = {}
    local fault = helper.fault(ranks.run, state)
    assert.equal(2, fault.code)
    assert.matches("^m.factors: does not go with ranks, .* %-%-factors=none$", fault.lines[1])
  end)

  it("keep numbers together that share a scale", function()
    local fault = helper.fault(model, { ranks = 2, weights = "int4", d_model = 32, d_ff = 64 })
    assert.equal(2, fault.code)
    assert.matches("ranks: 2 divide l0.attn.context after 16 columns, but weights in blocks need multiples of 32",
      fault.lines[1])
    fault = helper.fault(model, { ranks = 2, weights = "int4", head_dim = 32, d_ff = 32 })
    assert.equal(2, fault.code)
    assert.matches("ranks: 2, but the 32 columns of l0.ff.up are in blocks of 32", fault.lines[1], 1, true)
  end)
end)

describe("ranks of a mixture of experts", function()
  local mixed = { ranks = 2, d_model = 16, norm = "pre", gated = true, experts = { count = 3, used = 2, d_ff = 40,
    shared = 8, shared_gate = true } }

  local function with(more)
    local all = {}
    for _, from in ipairs { mixed, more } do for key, value in pairs(from) do all[key] = value end end
    return all
  end

  it("have rows of each expert, of which products make their part of each choice", function()
    local state = model(with { bias = true })
    local shapes, cut = {}, {}
    for rank = 0, 1 do
      local graph = graph_of(state, rank)
      local tensors = graph.tensors
      shapes[rank + 1] = { tensors["l0.ff.router"].shape[3], tensors["l0.ff.experts.up"].shape[3],
        tensors["l0.ff.experts.down"].shape[3], tensors["l0.ff.shared.up"].shape[3] }
      local up, down = tensors["l0.ff.experts.up.weight"], tensors["l0.ff.experts.down.weight"]
      cut[rank + 1] = { up.shape[1], up.from.views[2].row, up.from.views[2].rows, up.from.views[2].first,
        tensors["l0.ff.experts.up.bias"].from.views[3].first, down.shape[1], down.shape[2], down.from.views[1].first,
        tensors["l0.ff.experts.down.bias"].is_zero or false }
      assert.equal(tensors["l0.ff.groups"], tensors["l0.ff.experts.up"].groups)
    end
    assert.same({ { 3, 40, 32, 4 }, { 3, 40, 32, 4 } }, shapes)
    local each = 40 * 16
    assert.same({ { 60, 20, 20, each, 80, 48, 20, 0, false }, { 60, 20, 20, each + 20 * 16, 100, 48, 20, 20, true } },
      cut)
  end)

  it("have rows of each expert where a checkpoint has a tensor for each", function()
    local views = {}
    for expert = 0, 2 do
      views[expert + 1] = { stored = expert + 1, row = expert * 40, rows = 40, column = 0, columns = 16, first = 0,
        row_step = 16, column_step = 1 }
    end
    local own = cutting.tensor({ shape = { 120, 16 }, experts = 3, from = { stored = {}, views = views } }, 1, 20, 12)
    local rows = {}
    for i, view in ipairs(own.from.views) do rows[i] = { view.stored, view.row, view.rows, view.first } end
    assert.same({ { 1, 0, 12, 320 }, { 2, 12, 12, 320 }, { 3, 24, 12, 320 } }, rows)
    assert.same({ 36, 16 }, own.shape)
  end)

  it("meet once for all experts and the shared one", function()
    assert.same({ "l0.attn.out = sum_ranks", "l0.ff.with_shared = sum_ranks" }, meetings(graph_of(model(mixed), 1)))
    local normed = model(with { experts = { count = 3, used = 2, d_ff = 40, shared = 8, own_norms = true },
      norm = "sandwich" })
    assert.same({ "l0.attn.out = sum_ranks", "l0.ff.shared.down = sum_ranks", "l0.ff.combined = sum_ranks" },
      meetings(graph_of(normed, 1)))
  end)

  it("sum a shared expert by itself if its result is an output", function()
    local more = helper.description(mixed)
    local graph = graph_of(getmetatable(helper.state(more, "ranks", { exposed = true })).__index, 1)
    assert.matches("l0.ff.shared.down = sum_ranks, l0.ff.combined = sum_ranks$", table.concat(meetings(graph), ", "))
  end)

  it("choose experts by kernels in C, whose bits do not depend on tiles", function()
    assert.equal("c", model(mixed).spec.kernels)
    assert.equal("auto", model({ ranks = 2 }).spec.kernels)
  end)

  it("keep pairs of blocks together, and numbers of a group", function()
    local function refusal(more)
      local fault = helper.fault(model, with(more))
      assert.equal(2, fault.code)
      return fault.lines[1]
    end
    local in_blocks = { weights = "mxfp4", d_model = 64, heads = 2, experts = { count = 3, used = 2, d_ff = 64 } }
    assert.matches("ranks: 2, but the 64 columns of l0.ff.experts.gate are in blocks of 64, which stay whole; give at "
      .. "most 1", refusal(in_blocks), 1, true)
    in_blocks.experts.d_ff = 192
    local shapes = {}
    for rank = 0, 1 do
      shapes[rank + 1] = graph_of(model(with(in_blocks)), rank).tensors["l0.ff.experts.down.weight"].shape[2]
    end
    assert.same({ 128, 64 }, shapes)
    assert.matches("ranks: 2, but the 4 columns of l0.ff.experts.gate are in blocks of 4",
      refusal { experts = { count = 3, used = 2, d_ff = 4 } }, 1, true)
  end)
end)

describe("the whole model of any length", function()
  it("has room for the rows of as many sequences as a call can have", function()
    local state = model({ layers = 1, seq = { any = 8 }, ranks = 2, output = { { stage = "pool", over = "first" } } },
      "emit")
    local offsets = {}
    for _, file in ipairs(state.files) do -- the whole model comes before its ranks
      for name, offset in file.text:gmatch('"(l0%.attn%.%l+)", ATTN2C_SCRATCH, ATTN2C_F32, 4, %b{}, 0, 0, (%d+)') do
        offsets[name] = offsets[name] or math.tointeger(tonumber(offset))
      end
    end
    assert.equal(2 * 8 * 8, offsets["l0.attn.weights"] - offsets["l0.attn.scores"])
  end)
end)
