-- checks_spec: each checker lets a sound state pass and stops at one that was broken on
-- purpose, with a message that names the place.
local helper = require("tests.spec.helper")
local checks = require("passes.checks")
local types = require("data.types")

-- Breaks the state after a pass and gives the checker's message.
local function broken(pass, more, breaks)
  local state = helper.tiny(more, pass) -- the checker has run and found nothing
  breaks(state)
  return helper.defect(checks[pass], state)
end

local function op(state, name) return assert(helper.op(state, name)) end

-- The first step of a form, or of a row operation, in the shipped program.
local function step(state, what)
  for _, each in ipairs(helper.steps(state.programs[1])) do
    if each.form == what or each.fn == what then return each end
  end
end

describe("the checker after graph", function()
  it("finds a tensor that is read before it is written", function()
    assert.matches("after graph: l0.norm1 reads l0.attn.sum before it is written", broken("graph", {}, function(state)
      local list = state.graph.entry.ops
      list[8], list[9] = list[9], list[8]
    end))
  end)

  it("finds one that is written twice", function()
    assert.matches("l0.attn.q is written twice", broken("graph", {}, function(state)
      table.insert(state.graph.entry.ops, 2, state.graph.entry.ops[1])
    end))
  end)

  it("finds a wrong shape", function()
    assert.matches("the shape of l0.attn.context", broken("graph", {}, function(state)
      op(state, "l0.attn.context").result.shape = { 1, 8, 17 }
    end))
  end)

  it("finds a linear whose operands do not fit", function()
    assert.matches("l0.ff.up: x is %[1, 8, 16%], the weight %[64, 15%]", broken("graph", {}, function(state)
      op(state, "l0.ff.up").operands.weight.shape = { 64, 15 }
    end))
  end)

  it("finds an operand with other rows than the result", function()
    assert.matches("l0.attn.sum has the rows %[1, 8, 16%], its operand %[1, 7, 16%]", broken("graph", {},
      function(state)
        op(state, "l0.attn.sum").operands.b = { name = "in.hidden", kind = "input", shape = { 1, 7, 16 } }
      end))
  end)

  it("finds an output that nobody writes", function()
    assert.matches("output nothing is never written", broken("graph", {}, function(state)
      state.graph.entry.outputs[1] = "nothing"
    end))
  end)
end)

describe("the checker after layout", function()
  it("finds a weight without a place, of another type, or whose panels do not cover its outputs", function()
    local q = "l0.attn.q.weight"
    assert.matches("after layout: l0.attn.q.weight of forward has no place", broken("layout", {}, function(state)
      state.weights.offsets[q] = nil
    end))
    assert.matches("l0.attn.q.weight of forward has no place", broken("layout", {}, function(state)
      state.weights.layouts[q] = nil
    end))
    assert.matches("l0.attn.q.weight is f32, packed as bf16", broken("layout", {}, function(state)
      state.weights.layouts[q].type = "bf16"
    end))
    assert.matches("the panels of l0.attn.q.weight", broken("layout", {}, function(state)
      state.weights.layouts[q].widths[1] = 15
    end))
  end)

  it("finds weights that overlap or leave their block", function()
    assert.matches("l0.attn.k.weight of forward lies over l0.attn.q.weight", broken("layout", {}, function(state)
      state.weights.offsets["l0.attn.k.weight"] = state.weights.offsets["l0.attn.q.weight"] + 64
    end))
    assert.matches("the weights leave their 64 bytes", broken("layout", {}, function(state)
      state.weights.bytes = 64
    end))
  end)

  it("finds two entries with different weights, or different formats, at one place", function()
    -- Adds an entry with its own copy of where weights are, and changes that.
    local function with_another(change)
      return function(state)
        local first, weights = state.entries[1], {}
        for key, value in pairs(first.weights) do weights[key] = value end
        for _, key in ipairs { "offsets", "layouts" } do
          weights[key] = {}
          for name, value in pairs(first.weights[key]) do weights[key][name] = value end
        end
        change(weights)
        table.insert(state.entries, setmetatable({ name = "other", weights = weights }, { __index = first }))
      end
    end
    assert.matches("of forward lies over .* of other", broken("layout", {}, with_another(function(weights)
      local offsets, q, k = weights.offsets, "l0.attn.q.weight", "l0.attn.k.weight"
      offsets[q], offsets[k] = offsets[k], offsets[q]
    end)))
    assert.matches("l0.ff.up.weight of forward lies over l0.ff.up.weight of other", broken("layout", {},
      with_another(function(weights)
        weights.layouts["l0.ff.up.weight"] = { format = "panels", type = "f32", panel = 32, widths = { 32, 32 } }
      end)))
  end)
end)

describe("the checker after plan", function()
  local function fusions(state)
    for _, region in ipairs(state.plan.segments[1].sections[1].regions) do
      if region.kind == "rows" then return region.fusions end
    end
  end

  it("finds an op that is not planned, or twice", function()
    assert.matches("l0.attn.q is not planned", broken("plan", {}, function(state) table.remove(fusions(state), 1) end))
    assert.matches("l0.attn.q is planned twice", broken("plan", {}, function(state)
      table.insert(fusions(state), fusions(state)[1])
    end))
  end)

  it("finds panels of another weight", function()
    assert.matches("the panels of l0.attn.q", broken("plan", {}, function(state)
      fusions(state)[1].panels = state.weights.layouts["l0.ff.up.weight"]
    end))
  end)

  -- The fault of a plan in which the storage of the first query, or of a tensor, has other fields.
  local function stored(fields, name)
    return broken("plan", {}, function(state)
      local s = state.plan.storage[name or "l0.attn.q"]
      for key, value in pairs(fields) do s[key] = value end
    end)
  end

  it("finds a tensor that is stored nowhere, as another type, in other memory, or in short rows", function()
    assert.matches("l0.attn.q has no storage", stored { form = "nowhere" })
    assert.matches("l0.attn.q is stored as bf16", stored { type = "bf16" })
    assert.matches("l0.attn.q is stored in the wrong memory", stored { form = "external" })
    assert.matches("in%.%w+ is stored in the wrong memory", stored({ form = "full" }, "in.hidden"))
    assert.matches("the rows of l0.attn.q are too short", stored { leading_dimension = 4 })
  end)

  it("finds a reader of rows that are not stored", function()
    assert.matches("reads l0.attn.q, which has only the rows of another region", stored { form = "tile" })
    assert.matches("reads l0.attn.q, which has only the rows of another region", stored { form = "fused" })
  end)

  it("finds a tensor over one that is read later, in another form, or in rows of another length", function()
    assert.matches("l0.attn.q is stored over l0.attn.v, which is read later", stored { over = "l0.attn.v" })
    assert.matches("l0.attn.q is stored over l0.attn.k in another form", stored { over = "l0.attn.k" })
    assert.matches("l0.attn.q has rows of another length than l0.attn.v",
      stored { over = "l0.attn.v", leading_dimension = 160 })
    assert.matches("l0.attn.q is stored over l0.attn.v, of another number of sequences",
      stored { over = "l0.attn.v", whole_batch = true })
  end)
end)

-- The shipped steps of the first section that has some.
local function steps_of(state) return state.programs[1].segments[1].sections[1].steps end

describe("the checker after lower", function()
  local function lowered(what, breaks, more)
    return broken("lower", more or {}, function(state) breaks(step(state, what), state) end)
  end

  it("finds a step that is not as declared", function()
    assert.matches("layer 0: layer_norm lacks eps", lowered("layer_norm", function(s) s.constants.eps = nil end))
    assert.matches("layer 0: layer_norm has no constant epsilon",
      lowered("layer_norm", function(s) s.constants.epsilon = 1 end))
    assert.matches("layer 0: layer_norm lacks x", lowered("layer_norm", function(s) s.arguments.x = nil end))
    assert.matches("layer 0: layer_norm has no operand z", lowered("layer_norm", function(s)
      s.arguments.z = s.arguments.x
    end))
    assert.matches("no row operation norm", lowered("layer_norm", function(s) s.fn = "norm" end))
    assert.matches("the operand of bias", lowered("map", function(s) s.elementwise[1].argument = nil end))
    assert.matches("no elementwise operation gel", lowered("map", function(s) s.elementwise[1].kind = "gel" end))
    assert.matches("no operation of a map has the operand more", lowered("map", function(s)
      s.arguments.more = s.arguments.y
    end))
    assert.matches("the outputs of a product", lowered("product", function(s) s.outputs = 17 end))
    assert.matches("there is no buffer nowhere", lowered("product", function(s) s.arguments.c.buffer = "nowhere" end))
  end)

  it("finds an integer of a call without bounds", function()
    assert.matches("valid of mask_length has no bounds", lowered("mask_length", function(s)
      s.arguments.valid.most = nil
    end, { mask = "padding" }))
  end)
end)

describe("the checker after lower, of products,", function()
  -- The message of a model with one product whose kernel was broken; n rows of 40 outputs of 19 inputs.
  local function product(breaks, n)
    local more = { layers = 0, seq = n or 40, d_model = 40, input = { stage = "linear", from = 19, bias = false },
      plan = { fetch = 1, stream = 3072 } }
    return broken("lower", more, function(state)
      local each = step(state, "product")
      breaks(each.kernel, each)
    end)
  end

  -- With strips of its own.
  local function divided(breaks)
    return product(function(k)
      k.strips = { rows_held = k.strips.rows_held, form = k.strips.form, groups = { table.unpack(k.strips.groups) },
        strips = { table.unpack(k.strips.strips) } }
      breaks(k.strips)
    end)
  end

  it("finds strips that do not make all of it, or more", function()
    assert.matches("the strips of a product make 24 rows of 3 vectors", divided(function(s)
      s.strips = { { count = 3, size = 8 } }
    end))
    assert.matches("the strips of a product make 40 rows of 2 vectors", divided(function(s)
      s.groups = { { count = 1, size = 2 } }
    end))
    assert.matches("the strips of a product make 40 rows of 4 vectors", divided(function(s)
      s.groups = { { count = 2, size = 2 } }
    end))
  end)

  it("finds groups of open vectors whose sums are not all numbers, and strips of open rows that lack some", function()
    local function open(breaks)
      return broken("lower", { seq = { any = 40 }, target = "avx512" }, function(state)
        for _, each in ipairs(helper.steps(state.programs[1])) do
          local k = each.kernel
          if k and k.open == "n m" then
            k.strips = setmetatable({}, { __index = k.strips })
            breaks(k.strips)
            return
          end
        end
      end)
    end
    local function groups(...)
      local list = {}
      for i, size in ipairs { ... } do list[i] = { count = 1, size = size } end
      return open(function(s) s.groups = list end)
    end
    for _, each in ipairs { { 2 }, { 4, 1 }, { 4, 2 }, { 4, 2, 2 }, { 2, 2, 1 }, { 3, 1 } } do
      assert.matches("an open product lacks vectors", groups(table.unpack(each)))
    end
    assert.matches("an open product lacks strips", open(function(s) s.strips = { s.strips[1], s.strips[3] } end))
  end)

  it("finds strips that do not fit the registers", function()
    assert.matches("a strip of 10 x 3 needs 34 of 32 registers", divided(function(s)
      s.strips = { { count = 4, size = 10 } }
    end))
    assert.matches("a strip of 10 x 3 needs 41 of 32 registers", divided(function(s)
      s.strips, s.rows_held = { { count = 4, size = 10 } }, true
    end))
  end)

  it("finds whole vectors that are cut", function()
    assert.matches("whole vectors of A are cut", product(function(k) k.a_room, k.m = false, 48 end))
  end)

  it("finds that not all weights after it are asked for", function()
    -- 19 rows of 3 lines, 5 strips.
    local function ahead(more, n)
      return product(function(k)
        local fetch = {}
        for name, value in pairs(k.fetch) do fetch[name] = more[name] or value end
        k.fetch = fetch
      end, n)
    end
    assert.matches("prefetches weights 100 bytes ahead", ahead { from = 100 })
    assert.matches("prefetches weights 3712 bytes ahead", ahead { from = 3648 + 64 })
    assert.matches("prefetches weights 0 bytes ahead", ahead({ from = 0 }, 8))
    assert.matches("704 bytes apart: not all of a panel", ahead { each = 704 })
    assert.matches("every 19 inputs, 768 bytes apart: not all of a panel", ahead { every = 19 })
    assert.matches("prefetches 1 lines every 4 inputs, 768 bytes apart: not all of a panel", ahead { lines = 1 })
    assert.matches("every 4 inputs, 768 bytes apart: not all of a panel", ahead { pace = 4 })
  end)
end)

local large = { seq = 128, d_model = 256, heads = 4, d_ff = 512, threads = 2 }

describe("the checker after schedule", function()
  -- The first product on the arena in the first chunk of the first phase, and the steps of the second.
  local function first_of(state)
    local lists = state.programs[1].segments[1].phases[1].chunks
    for _, each in ipairs(lists[1]) do
      if each.form == "product" and each.arguments.c.class == "arena" then return each, lists[2] end
    end
  end

  it("finds two workers that write the same elements", function()
    assert.matches("two workers write the same elements of ", broken("schedule", large, function(state)
      local each, other = first_of(state)
      table.insert(other, each)
    end))
  end)

  it("finds what one worker reads while another writes it", function()
    assert.matches("is read and written in one phase", broken("schedule", large, function(state)
      local each, other = first_of(state)
      state.programs[1].buffers.elsewhere = { type = "f32", bytes = 64, pitch = 64, class = "arena" }
      table.insert(other, { region = each.region, task = each.task, form = "row", fn = "copy",
        constants = { rows = 1, cols = 1, ldx = 16, ldy = 16 },
        arguments = { x = each.arguments.c, y = { buffer = "elsewhere", class = "arena", offset = 0 } } })
    end))
  end)

  it("finds a step that is lost", function()
    assert.matches("%d+ of %d+ steps are scheduled", broken("schedule", large, function(state)
      local lists = state.programs[1].segments[1].phases[1].chunks
      for i, each in ipairs(lists[2]) do
        if each.form == "product" then
          table.remove(lists[2], i)
          break
        end
      end
    end))
  end)

  local micro_batches = { batch = 4, seq = 64, d_model = 256, heads = 4, d_ff = 512, threads = 2,
    plan = { group_tokens = 128 } }

  it("finds micro-batches that meet", function()
    assert.matches("two workers write the same elements of l0.norm2", broken("schedule", micro_batches, function(state)
      assert.equal("micro_batches", state.programs[1].segments[1].mode)
      state.spec.batch = 3 -- the second micro-batch would begin one sequence after the first
    end))
    assert.matches("two workers write the same elements of l0.norm2", broken("schedule", micro_batches, function(state)
      for _, each in ipairs(helper.steps(state.programs[1])) do
        local y = each.form == "row" and each.arguments.y
        if y and y.class == "out" then y.terms.s = nil end
      end
    end))
  end)
end)

describe("the checker after memory", function()
  it("finds outputs in the same bytes of the arena where workers are at different steps", function()
    local state = helper.state(helper.description { d_model = 31, heads = 1, d_ff = 5, layers = 2, batch = 8, seq = 56,
      norm = "none", residual = false, threads = 2, plan = { least_team = 0, least_phase = 0 } }, "memory",
      { exposed = true })
    local program = state.programs[1]
    assert.equal("micro_batches", program.segments[1].mode)
    program.offsets["l0.ff.down"] = program.offsets["l0.attn.k"]
    assert.matches("workers at different steps share the bytes of l0", helper.defect(checks.memory, state))
  end)

  it("finds an output without room in the arena, where it lies if the caller does not want it", function()
    local two = { batch = 2, layout = "seq_first", output = { { stage = "hidden", name = "h" },
      { stage = "linear", to = 7 } } }
    assert.matches("after memory: output output.h.swapped has 256 bytes of the arena", broken("memory", two,
      function(state) state.programs[1].buffers["output.h.swapped"].bytes = 256 end))
  end)

  it("finds a buffer that is read before it is written", function()
    assert.matches("layer 0 reads l0.ff.act before it is written", broken("memory", {}, function(state)
      local steps = steps_of(state)
      for i = #steps, 1, -1 do
        local each = steps[i]
        if each.form == "product" and each.arguments.c.buffer == "l0.ff.act" then table.remove(steps, i) end
      end
    end))
  end)

  it("finds a single element that is not written", function()
    assert.matches("layer 0 reads l0.attn.context before it is written", broken("memory", {}, function(state)
      for _, each in ipairs(steps_of(state)) do
        local c = each.form == "product" and each.arguments.c
        if c and c.buffer == "l0.attn.context" and c.offset > 0 then
          each.kernel = setmetatable({ m = each.kernel.m - 1 }, { __index = each.kernel })
          each.outputs = each.kernel.m
        end
      end
    end))
  end)

  it("finds an output that is not written whole", function()
    assert.matches("output l0.norm2 is not written whole", broken("memory", {}, function(state)
      local last
      for _, each in ipairs(steps_of(state)) do if each.fn == "layer_norm" then last = each end end
      last.constants = setmetatable({ rows = last.constants.rows - 1 }, { __index = last.constants })
    end))
  end)

  it("finds values that are lost to a buffer at the same place", function()
    assert.matches("layer 0 reads l0.attn.q, which l0.attn.[kv@tile]+ has overwritten",
      broken("memory", {}, function(state)
      local offsets = state.programs[1].offsets
      offsets["l0.attn.q"] = offsets["l0.attn.v"]
    end))
  end)

  it("finds what a later iteration overwrites", function()
    -- Two sequences at a time: the context of the first is lost while the second's scores are made.
    assert.matches("reads l0.attn.context, which .*@tile has overwritten", broken("memory",
      { batch = 2, plan = { group_tokens = 16 } }, function(state)
        local offsets = state.programs[1].offsets
        offsets["l0.attn.scores@tile"] = offsets["l0.attn.context"]
      end))
  end)

  it("finds a pooled value that the next micro-batch overwrites", function()
    assert.matches("pooled reads output.1.pool, which .* has overwritten", broken("memory",
      { batch = 4, plan = { group_tokens = 8 }, output = { { stage = "pool", over = "mean" },
        { stage = "linear", to = 3 } } }, function(state)
        local offsets = state.programs[1].offsets
        offsets["output.1.pool"] = offsets["l0.attn.q"]
      end))
  end)

  it("finds one that leaves the arena or is not aligned", function()
    assert.matches("the offset of ", broken("memory", {}, function(state)
      state.programs[1].offsets["l0.attn.q"] = state.programs[1].arena_bytes
    end))
    assert.matches("the offset of l0.attn.q", broken("memory", {}, function(state)
      state.programs[1].offsets["l0.attn.q"] = state.programs[1].offsets["l0.attn.q"] + 1
    end))
    assert.matches("the arena of 1 bytes", broken("memory", {}, function(state)
      state.programs[1].arena_bytes = 1
    end))
  end)

  it("finds workers that touch the same bytes by two buffers", function()
    assert.matches("two workers touch the same bytes by ", broken("memory", large, function(state)
      local program = state.programs[1]
      program.offsets["l0.attn.v"] = program.offsets["l0.attn.q"]
    end))
  end)

  it("finds a buffer that workers share where each needs its own", function()
    local micro_batches = { batch = 4, seq = 64, d_model = 256, heads = 4, d_ff = 512, threads = 2 }
    assert.matches("workers share l0.attn.q", broken("memory", micro_batches, function(state)
      local program = state.programs[1]
      assert.equal("micro_batches", program.segments[1].mode)
      program.own["l0.attn.q"] = nil
    end))
    assert.matches("is not a worker's own", broken("memory", {}, function(state)
      state.programs[1].own["l0.attn.q"] = true
    end))
    assert.matches("workers share l0.attn.scores@tile", broken("memory", large, function(state)
      state.programs[1].own["l0.attn.scores@tile"] = false
    end))
    assert.matches("l0.attn.q is not a worker's own", broken("memory", large, function(state)
      state.programs[1].own["l0.attn.q"] = true
    end))
  end)
end)

describe("no operand leaves its buffer:", function()
  local function left(what, breaks, more)
    return broken("memory", more or {}, function(state) breaks(assert(step(state, what)), state) end)
  end

  it("of a product", function()
    assert.matches("a product of layer 0 leaves l0.attn.q: bytes 4 to 515 of 512", left("product", function(s)
      s.arguments.c.offset = 4
    end))
    assert.matches("a product of layer 0 leaves in.hidden", left("product", function(s)
      s.arguments.b.offset = 4
    end))
    assert.matches("a product of layer 0 leaves l0.attn.q.weight", left("product", function(s)
      s.arguments.a.offset = 4
    end))
    assert.matches("leaves l0.attn.q: bytes %-4 to", left("product", function(s) s.arguments.c.offset = -4 end))
    assert.matches("leaves l0.attn.q", left("product", function(_, state)
      state.programs[1].buffers["l0.attn.q"].bytes = 511
    end))
  end)

  it("of a product whose rows of A have room for whole vectors", function()
    -- 5 rows of 36 outputs with room for 48: the kernel reads all of these.
    assert.matches("a product of input leaves input.linear.weight: bytes 4 to 963 of 960", left("product", function(s)
      s.arguments.a.offset = 4
    end, { layers = 0, d_model = 36, input = { stage = "linear", from = 5 } }))
  end)

  it("of a map and its operations", function()
    assert.matches("a map of layer 0 leaves l0.attn.q", left("map", function(s) s.constants.rows = 9 end))
    assert.matches("a map of layer 0 leaves l0.attn.q.bias", left("map", function(s)
      s.arguments.bias.offset = 4
    end))
    local function band(by, more)
      return broken("memory", more, function(state)
        for _, each in ipairs(helper.steps(state.programs[1])) do
          for _, operation in ipairs(each.elementwise or {}) do
            if operation.kind == "add_band" or operation.kind == "add_reversed" then
              local operand = each.arguments[operation.argument]
              operand.offset = operand.offset + by
              return
            end
          end
        end
        error("no band")
      end)
    end
    assert.matches("leaves positions.alibi: bytes %-4 to", band(-4, { positions = "alibi" }))
    assert.matches("leaves positions.alibi", band(400, { positions = "alibi" }))
    assert.matches("leaves l0.attn.scores@relative: bytes %-32 to", band(-32, { positions = "relative_key" }))
  end)

  it("of row operations", function()
    assert.matches("a layer_norm of layer 0 leaves l0.norm1.weight", left("layer_norm", function(s)
      s.arguments.gain.offset = 4
    end))
    assert.matches("a softmax of layer 0 leaves l0.attn.scores@tile", left("softmax", function(s)
      s.constants.rows = 9
    end))
    assert.matches("a transpose of layer 0 leaves l0.attn.k@tile", left("transpose", function(s)
      s.constants.rows = 9
    end))
    assert.matches("a context_repair of layer 0 leaves l0.attn.v", left("context_repair", function(s)
      s.constants.cols = 9
    end, { mask = "causal" }))
    assert.matches("a rotate of layer 0 leaves positions.cos_8", left("rotate", function(s)
      s.arguments.cosines.offset = 4
    end, { positions = "rope" }))
  end)

  it("where an integer that only a call knows is largest", function()
    local tokens = { input = { stage = "tokens", vocab = 50 } }
    assert.matches("an? embed of input leaves input.tokens.weight: bytes 0 to 3263 of 3200", left("embed", function(s)
      s.arguments.ids.most = 50
    end, tokens))
    local pooled = { mask = "padding", output = { { stage = "pool", over = "last" } } }
    assert.matches("pool_row of .* leaves in.hidden: bytes 0 to 575 of 512", left("pool_row", function(s)
      s.arguments.row.most = 8
    end, pooled))
    assert.matches("pool_row of .* leaves in.hidden: bytes %-64 to", left("pool_row", function(s)
      s.arguments.row.least = -1
    end, pooled))
  end)

  it("in the last iteration of the loops over sequences", function()
    local more = { batch = 4, plan = { group_tokens = 16 } }
    assert.matches("leaves in.hidden: bytes 0 to 2055 of 2048", left("product", function(s)
      s.arguments.b.terms.s = 516
    end, more))
    assert.matches("leaves l0.attn.context", left("softmax", function(_, state)
      for _, each in ipairs(helper.steps(state.programs[1])) do
        local c = each.form == "product" and each.arguments.c
        if c and c.buffer == "l0.attn.context" then c.terms.b = 1200 end
      end
    end, more))
  end)
end)

describe("the checker after kernels", function()
  for field, value in pairs { m = 0, n = 0, k = 0, lda = 15, ldb = 15, ldc = 15, beta = 2 } do
    it("finds a wrong " .. field, function()
      assert.matches("the shape of kernel 0", broken("kernels", { kernels = "libxsmm" },
        function(state) state.kernels[1][field] = value end))
    end)
  end

  it("finds a leading dimension beyond 31 bits", function()
    assert.matches("the leading dimensions of kernel 0", broken("kernels", { kernels = "libxsmm" }, function(state)
      state.kernels[1].ldc = 1 << 31
    end))
  end)
end)

describe("the checker after kernels, of a product and a map that share a function,", function()
  -- The first fused kernel whose sums lie on the stack: the program, the product and what they share.
  local function fused_kernel_of(state)
    local program, last, found = state.programs[1], nil, nil
    for _, each in ipairs(helper.steps(program)) do
      local pair = last and program.fused_kernels[last]
      if pair and pair.is_local and not found then found = { product = last, map = pair.map, pair = pair } end
      last = each
    end
    return program, found.product, found.map
  end

  local function finds(breaks, pass)
    return broken(pass or "kernels", { precision = "int8", target = "avx512bf16", seq = 16, d_model = 32 }, breaks)
  end

  it("finds one that writes what later strips read", function()
    assert.matches("after kernels: layer 0: a map writes .* over what later strips read of", finds(function(state)
      local program, product, map = fused_kernel_of(state)
      program.offsets[map.arguments.y.buffer] = program.offsets[product.arguments.b.buffer] + 64
      program.own[map.arguments.y.buffer] = program.own[product.arguments.b.buffer]
    end))
  end)

  it("finds sums on the stack that another step reads, and room for them", function()
    local function with_room(program, map)
      local x = map.arguments[map.elementwise[1].argument]
      program.offsets[x.buffer], program.own[x.buffer] = types.line_bytes(program.common_bytes), false
      program.common_bytes = program.offsets[x.buffer] + types.line_bytes(program.buffers[x.buffer].bytes)
      program.arena_bytes = program.common_bytes
      return x
    end
    assert.matches("after memory: layer 0 reads .* before it is written", finds(function(state)
      local program, _, map = fused_kernel_of(state)
      local x = with_room(program, map)
      table.insert(map.elementwise, { kind = "add", argument = "again", ld = map.elementwise[1].ld })
      map.arguments.again = { buffer = x.buffer, class = x.class, offset = x.offset, terms = x.terms }
    end, "memory"))
    assert.matches("after memory: .*@unit has %d+ bytes of the arena that no step touches", finds(function(state)
      local program, _, map = fused_kernel_of(state)
      with_room(program, map)
    end, "memory"))
  end)

  it("finds a map of other sums", function()
    assert.matches("after kernels: layer 0: a map is fused with other sums than those in", finds(function(state)
      local _, product = fused_kernel_of(state)
      product.arguments.c.offset = product.arguments.c.offset + 64
    end))
  end)
end)

describe("the checkers, of a panel loop,", function()
  local function finds(pass, breaks)
    return broken(pass, { d_model = 64, plan = { panel = 16 } }, function(state)
      for _, each in ipairs(helper.steps(state.programs[1])) do
        if each.panels and each.form == "product" then return breaks(each, state.programs[1]) end
      end
    end)
  end

  it("find a panel that leaves its buffer", function()
    assert.matches("after memory: a product of layer 0 leaves l0.attn.q.weight", finds("memory", function(first)
      first.panels.count = 5
    end))
  end)

  it("find panels that are left out, or apart", function()
    assert.matches("after memory: layer 0 reads l0.attn.q before it is written", finds("memory", function(first)
      first.panels.count = 3
    end))
    assert.matches("reads l0.attn.q before it is written", finds("memory", function(first)
      first.arguments.c.terms.panel = 32
    end))
  end)

  it("find a panel that overwrites what the next one reads", function()
    local want = "layer 0 reads l0.attn.context, which l0.attn.sum has overwritten"
    assert.matches(want, finds("memory", function(_, program)
      for _, each in ipairs(helper.steps(program)) do
        local of = each.arguments
        if each.panels and each.form == "product" and of.b.class == "arena" then
          program.offsets[of.c.buffer] = program.offsets[of.b.buffer]
          return
        end
      end
    end))
  end)
end)

describe("the checker after emit", function()
  it("finds text that does not end with a line, or holds a NUL", function()
    assert.matches("tiny.c does not end with a line", broken("emit", {}, function(state)
      state.files[1].text = state.files[1].text:sub(1, -2)
    end))
    assert.matches("tiny.c does not end with a line", broken("emit", {}, function(state) state.files[1].text = "" end))
    assert.matches("tiny.c is not ASCII outside comments", broken("emit", {}, function(state)
      state.files[1].text = "/* é */\nint é;\n"
    end))
    assert.matches("tiny.c holds a NUL", broken("emit", {}, function(state)
      state.files[1].text = "a\0b\n"
    end))
  end)
end)
