-- ops_spec: the table of operations: shapes, flops, equations, and the pairs that a mask leaves.
local helper = require("tests.spec.helper")
local activations = require("data.activations")
local c_tables = require("common.c_tables")
local ops = require("data.ops")
local visible = require("data.visible")
local words = require("common.words")

local function tensor(...) return { shape = { ... }, type = "f32" } end

-- Whether a query sees key j: by the mask's words where the query stands at position i, or as one of the keys that
-- all see.
local function is_seen(attributes, i, j, keys)
  if j >= keys - (attributes.extra or 0) or j < (attributes.prefix or 0) then return true end
  if attributes.causal and j > i then return false end
  if attributes.left >= 0 and j < i - attributes.left then return false end
  return attributes.right < 0 or j <= i + attributes.right
end

-- Pairs that a mask allows, one by one.
local function brute_force(attributes, queries, keys)
  local n = 0
  for query = 0, queries - 1 do
    for j = 0, keys - 1 do
      if is_seen(attributes, (attributes.offset or 0) + query, j, keys) then n = n + 1 end
    end
  end
  return n
end

describe("the table of the reference", function()
  it("has a row for each operation but those of ranks, with the types of its operands and result", function()
    local rows, names = {}, {}
    for _, row in ipairs(c_tables.rows("reference/table.h", "ATTN2C_OPS")) do rows[row[1]] = row end
    for name, op in pairs(ops.table) do
      if not ops.class(name).of_ranks then names[name] = true end
      local row = rows[name]
      if row then
        assert.equal(#op.operands, #row[2], name)
        for i, operand in ipairs(op.operands) do
          assert.equal(op.optional ~= nil and op.optional[operand] == true, row[2]:sub(i, i):match("%l") ~= nil, name)
        end
        assert.equal(op.type == "i32" and "I32" or "F32", row[3], name)
      end
    end
    assert.same(words.sorted_keys(names), words.sorted_keys(rows))
  end)

  it("has a row for each activation", function()
    local rows = c_tables.rows("reference/table.h", "ATTN2C_ACTIVATIONS")
    for i, each in ipairs(activations.list) do
      assert.same({ each.name, each.of or each.name }, { rows[i][1], rows[i][2] })
    end
    assert.equal(#activations.list, #rows)
  end)
end)

describe("visible.pairs", function()
  it("counts by formula what a loop over all pairs counts", function()
    for _, size in ipairs { 1, 2, 7, 16, 33 } do
      for _, left in ipairs { -1, 0, 1, 5, 40 } do
        for _, right in ipairs { -1, 0, 2, 40 } do
          for _, causal in ipairs { true, false } do
            local attributes = { causal = causal, left = left, right = right }
            assert.equal(brute_force(attributes, size, size), visible.pairs(attributes, size, size))
          end
        end
      end
    end
  end)

  it("counts those of a prefix, after a past, and keys that all see", function()
    for _, sizes in ipairs { { 1, 1 }, { 1, 9 }, { 5, 3 }, { 4, 12 }, { 9, 9 } } do
      for _, window in ipairs { { -1, -1 }, { 0, 0 }, { 2, 1 }, { 5, -1 }, { -1, 3 }, { 40, 40 } } do
        for _, prefix in ipairs { false, 1, 3, 9, 50 } do
          for _, offset in ipairs { false, 1, 7, 20 } do
            for _, extra in ipairs { false, 1, 2 } do
              for _, causal in ipairs { true, false } do
                local attributes = { causal = causal, left = window[1], right = window[2], prefix = prefix or nil,
                  offset = offset or nil, extra = extra or nil }
                local queries, keys = sizes[1], sizes[2] + (extra or 0)
                assert.equal(brute_force(attributes, queries, keys), visible.pairs(attributes, queries, keys),
                  require("common.dump").table(attributes) .. queries .. " x " .. keys)
              end
            end
          end
        end
      end
    end
  end)

  it("is n (n + 1) / 2 where causal, and all without a mask", function()
    assert.equal(36, visible.pairs({ causal = true, left = -1, right = -1 }, 8, 8))
    assert.equal(64, visible.pairs({ causal = false, left = -1, right = -1 }, 8, 8))
  end)
end)

describe("ops.make", function()
  local mask = { heads = 2, causal = false, left = -1, right = -1 }

  it("counts a linear's 2 N M K", function()
    local op = ops.make("linear", "input", { x = tensor(2, 3, 5), weight = tensor(7, 5) }, {})
    assert.same({ 2, 3, 7 }, op.shape)
    assert.equal(2 * 2 * 3 * 7 * 5, op.flops)
    assert.equal("f32", op.type)
  end)

  it("gives scores a row a head and query, and counts visible pairs only", function()
    local op = ops.make("scores", "layer 0", { q = tensor(3, 4, 10), k = tensor(3, 6, 10) }, mask)
    assert.same({ 3, 2, 4, 6 }, op.shape)
    assert.equal(2 * 3 * 10 * 4 * 6, op.flops)
    local causal = ops.make("scores", "layer 0", { q = tensor(3, 4, 10), k = tensor(3, 4, 10) },
      { heads = 2, causal = true, left = -1, right = -1 })
    assert.equal(2 * 3 * 10 * 10, causal.flops)
  end)

  it("gives the context the width of the values", function()
    local op = ops.make("context", "layer 0", { weights = tensor(3, 2, 4, 6), v = tensor(3, 6, 10) }, mask)
    assert.same({ 3, 4, 10 }, op.shape)
    assert.equal(2 * 3 * 10 * 4 * 6, op.flops)
  end)

  it("counts products of integers as those of floats", function()
    local scale = tensor(3, 4, 2)
    local op = ops.make("scores_of_integers", "layer 0", { q = tensor(3, 4, 10), k = tensor(3, 6, 10), q_scale = scale,
      k_scale = tensor(3, 6, 2) }, mask)
    assert.same({ { 3, 2, 4, 6 }, 2 * 3 * 10 * 4 * 6 }, { op.shape, op.flops })
    local context = ops.make("context_of_integers", "layer 0", { weights = tensor(3, 2, 4, 6), v = tensor(3, 6, 10),
      weight_scale = tensor(3, 2, 4, 1), v_scale = tensor(3, 1, 10) }, mask)
    assert.same({ { 3, 4, 10 }, op.flops }, { context.shape, context.flops })
  end)

  it("counts of shared keys a product a query head, and after a past and before extra keys what is seen", function()
    local options = { heads = 4, causal = true, left = -1, right = -1, offset = 3, extra = 1 }
    local scores = ops.make("scores", "layer 0", { q = tensor(2, 5, 12), k = tensor(2, 9, 6) }, options)
    assert.same({ 2, 4, 5, 9 }, scores.shape)
    local pairs_seen = 4 + 5 + 6 + 7 + 8 + 5
    assert.equal(2 * 2 * 12 * pairs_seen, scores.flops)
    options.kv_heads = 2
    local context = ops.make("context", "layer 0", { weights = tensor(2, 4, 5, 9), v = tensor(2, 9, 14) }, options)
    assert.same({ 2, 5, 28 }, context.shape)
    assert.equal(2 * 2 * 28 * pairs_seen, context.flops)
  end)

  it("counts what relative positions multiply, without the keys that have none", function()
    local relative = ops.make("add_relative", "layer 0",
      { scores = tensor(2, 3, 4, 7), x = tensor(2, 4, 15), table = tensor(19, 5) }, { keys = false, extra = 2 })
    assert.same({ 2, 3, 4, 7 }, relative.shape)
    assert.equal(2 * 2 * 3 * 4 * 5 * 5, relative.flops)
    local projected = ops.make("add_disentangled", "layer 0",
      { scores = tensor(2, 3, 4, 7), x = tensor(2, 4, 15), table = tensor(90, 5) },
      { keys = false, reach = 15, table_heads = 3, extra = 2 })
    assert.same({ 2, 3, 4, 7 }, projected.shape)
    assert.equal(relative.flops, projected.flops)
  end)

  it("convolves rows by groups of columns", function()
    local grouped = ops.make("convolve", "input",
      { x = tensor(2, 3, 8), weight = tensor(10, 16), bias = tensor(10), lengths = tensor(2) },
      { kernel = 4, groups = 2 })
    assert.same({ 2, 3, 10 }, grouped.shape)
    assert.equal(2 * 2 * 3 * 10 * 16, grouped.flops)
    assert.equal(16, ops.inputs(grouped))
  end)

  it("convolves each column by itself", function()
    local columns = ops.make("convolve_columns", "input", { x = tensor(2, 3, 8), weight = tensor(1, 32) },
      { kernel = 4 })
    assert.same({ { 2, 3, 8 }, 2 * 2 * 3 * 8 * 4 }, { columns.shape, columns.flops })
  end)

  it("counts the products of an LSTM's state", function()
    local states = ops.make("recurrent", "output", { x = tensor(2, 3, 40), weight = tensor(10, 20),
      marks = tensor(2, 3) }, { directions = 2 })
    assert.same({ { 2, 3, 10 }, 2 * 2 * 3 * 2 * 20 * 5 }, { states.shape, states.flops })
  end)

  it("joins rows of each sequence, and rows that all sequences share", function()
    local function shape(a, b, zeros)
      return ops.make("join", "s", { a = a, b = b }, { batch = 2, zeros = zeros }).shape
    end
    assert.same({ 2, 7, 5 }, shape(tensor(2, 3, 5), tensor(2, 4, 5), 0))
    assert.same({ 2, 4, 5 }, shape(tensor(2, 3, 5), tensor(1, 5), 0))
    assert.same({ 2, 4, 5 }, shape(tensor(1, 5), tensor(2, 3, 5), 0))
    assert.same({ 2, 5, 5 }, shape(tensor(2, 3, 5), tensor(1, 5), 1))
    assert.same({ 2, 4, 5 }, shape(tensor(2, 3, 5), nil, 1))
    assert.same({ 2, 9, 12 }, shape(tensor(2, 3, 5, 4), tensor(2, 4, 12), 0))
    assert.same({ 2, 6, 12 }, shape(tensor(2, 3, 5, 4), nil, 1))
  end)

  it("knows the shapes of all others and counts no flops there", function()
    local x, square = tensor(2, 3, 5), tensor(2, 4, 3, 6)
    local additive = { heads = 4, causal = false, left = -1, right = -1 }
    local cases = {
      { "multiply", { a = x, b = x }, {}, { 2, 3, 5 } },
      { "own_ids", { ids = tensor(2, 3) }, { first = "0, 4, 9" }, { 2, 3 }, "i32" },
      { "sum_ranks", { x = x, ids = tensor(2, 3) }, {}, { 2, 3, 5 } },
      { "gather_ranks", { x = x }, { first = "0, 5, 9" }, { 2, 3, 9 } },
      { "own_columns", { x = x }, { starts = "0, 2", columns = 2 }, { 2, 3, 2 } },
      { "pass_on", { x = x }, {}, { 2, 3, 5 } },
      { "take_on", {}, { shape = "2, 3, 5" }, { 2, 3, 5 } },
      { "give_output", { x = x }, {}, { 2, 3, 5 } },
      { "take_output", {}, { shape = "2, 3" }, { 2, 3 } },
      { "scale", { x = x }, { factor = 2.0 }, { 2, 3, 5 } },
      { "swap", { x = x }, {}, { 3, 2, 5 } },
      { "split_heads", { x = tensor(2, 3, 12) }, { heads = 4 }, { 2, 4, 3, 3 } },
      { "patches", { x = tensor(2, 3, 8, 12) }, { patch = 4 }, { 2, 6, 48 } },
      { "patches_of_columns", { x = tensor(2, 12, 8) }, { patch = 4, row_stride = 2, column_stride = 3 },
        { 2, 9, 16 } },
      { "windows", { x = x }, { kernel = 2, stride = 1 }, { 2, 2, 10 } },
      { "pair_rows", { x = tensor(2, 7, 5) }, {}, { 2, 2, 20 } },
      { "neighbours", { x = x, lengths = tensor(2) }, { kernel = 3 }, { 2, 3, 15 } },
      { "embed_boxes", { boxes = tensor(2, 3, 4), table = tensor(80, 5) }, {}, { 2, 3, 5 } },
      { "embed_boxes", { boxes = tensor(2, 3, 4), table = tensor(40, 5), sizes = tensor(40, 3) }, {}, { 2, 3, 26 } },
      { "grid_positions", { shapes = tensor(2, 2), table = tensor(9, 5) }, { rows = 7 }, { 2, 7, 5 } },
      { "drop_tokens", { x = x, ids = tensor(2, 3) }, { id = 4, share = 0.5 }, { 2, 3, 5 } },
      { "rms_norm", { x = x, gain = tensor(5) }, { eps = 1e-5 }, { 2, 3, 5 } },
      { "normalise", { x = tensor(2, 5) }, { eps = 1e-12 }, { 2, 5 } },
      { "softmax_rows", { x = x }, {}, { 2, 3, 5 } },
      { "log_softmax", { x = tensor(2, 5) }, {}, { 2, 5 } },
      { "rotate", { x = x, cosines = tensor(3, 1), sines = tensor(3, 1) }, { heads = 1, pairs = true }, { 2, 3, 5 } },
      { "hadamard", { x = tensor(2, 3, 8) }, { heads = 2, block = 4 }, { 2, 3, 8 } },
      { "additive_scores", { q = tensor(2, 3, 8), k = tensor(2, 6, 8), score = tensor(4, 2) }, additive,
        { 2, 4, 3, 6 } },
      { "add_distance", { scores = square, table = tensor(4, 8) }, {}, { 2, 4, 3, 6 } },
      { "add_gated", { scores = square, table = tensor(4, 8), gates = tensor(2, 3, 4) }, {}, { 2, 4, 3, 6 } },
      { "add_places", { scores = tensor(2, 4, 3, 3), boxes = tensor(2, 3, 4), across = tensor(4, 9),
        down = tensor(4, 9) }, {}, { 2, 4, 3, 3 } },
      { "add_places", { scores = tensor(2, 4, 3, 3), boxes = tensor(2, 3, 4), across = tensor(4, 9),
        down = tensor(4, 9), along = tensor(4, 5) }, {}, { 2, 4, 3, 3 } },
      { "page_places", { boxes = tensor(2, 3, 4) }, { across = 5, down = 2 }, { 2, 14, 4 }, "i32" },
      { "join", { a = x }, { batch = 2, zeros = 0, rows = 2 }, { 2, 2, 5 } },
      { "position_gates", { x = tensor(2, 3, 8), weight = tensor(8, 2), bias = tensor(8), factors = tensor(4) },
        { heads = 4 }, { 2, 3, 4 } },
      { "add_array", { scores = square, array = tensor(3, 6) }, { shape = 1 }, { 2, 4, 3, 6 } },
      { "block_array", { scores = square, array = tensor(2, 6) }, { shape = 0 }, { 2, 4, 3, 6 } },
      { "add_length", { scores = square, lengths = tensor(2) }, { value = -1.0 }, { 2, 4, 3, 6 } },
      { "bucket_table", { table = tensor(32, 4), index = tensor(8) }, {}, { 4, 8 } },
      { "weigh", { scores = square }, { relu = true, scale = 1.0 }, { 2, 4, 3, 6 } },
      { "head_scale", { weights = square, factors = tensor(1, 4) }, { layer = 0 }, { 2, 4, 3, 6 } },
      { "mean_heads", { weights = square }, {}, { 2, 3, 6 } },
      { "embed", { ids = tensor(2, 3), table = tensor(50, 5) }, {}, { 2, 3, 5 } },
      { "add", { a = x, b = tensor(3, 5) }, {}, { 2, 3, 5 } },
      { "copy", { x = x }, {}, { 2, 3, 5 } },
      { "activate", { x = x }, { ["function"] = "relu" }, { 2, 3, 5 } },
      { "layer_norm", { x = x }, { eps = 1e-5 }, { 2, 3, 5 } },
      { "clamp", { x = x }, { limit = 2.0 }, { 2, 3, 5 } },
      { "layer_norm", { x = x, gain = tensor(5, 1) }, { eps = 1e-5, heads = 5, each = true }, { 2, 3, 5 } },
      { "adapt", { x = x, rows = tensor(2, 3, 7), inputs = tensor(6, 7), outputs = tensor(6, 5), adapters = tensor(2) },
        { first = "0, 2, 6" }, { 2, 3, 5 } },
      { "softcap", { x = square }, { cap = 2.0 }, { 2, 4, 3, 6 } },
      { "softmax", { scores = tensor(2, 1, 3, 3) }, { scale = 1.0 }, { 2, 1, 3, 3 } },
      { "pool", { x = x }, { ["function"] = "mean" }, { 2, 5 } },
      { "pool", { x = x, mask = tensor(2, 4) }, { ["function"] = "max mean", keeps = true, first = 1 }, { 2, 10 } },
      { "round", { x = x }, {}, { 2, 3, 5 } },
      { "round_weights", { weights = square }, {}, { 2, 4, 3, 6 }, "bf16" },
      { "row_scale", { x = x }, {}, { 2, 3, 1 } },
      { "row_scale", { x = tensor(2, 3, 8), guard = tensor(2, 3, 8) }, { heads = 4 }, { 2, 3, 4 } },
      { "keep", { x = x, scale = tensor(2, 3, 1) }, {}, { 2, 3, 5 } },
      { "centre", { x = x, lengths = tensor(2) }, {}, { 2, 3, 5 } },
      { "column_scale", { x = x }, {}, { 2, 1, 5 } },
      { "quantise_columns", { x = x, scale = tensor(2, 1, 5) }, {}, { 2, 3, 5 }, "s8" },
      { "exponentials", { scores = square }, { scale = 1.0 }, { 2, 4, 3, 6 } },
      { "round_to_bytes", { weights = square }, {}, { 2, 4, 3, 6 }, "u8" },
      { "weight_scale", { weights = square, exact = square }, {}, { 2, 4, 3, 1 } },
      { "quantise", { x = x, scale = tensor(2, 3, 1) }, {}, { 2, 3, 5 }, "i8" },
      { "gather_columns", { x = x, order = tensor(5) }, {}, { 2, 3, 5 } },
      { "quantise_blocks", { x = x }, {}, { 2, 3, 5 }, "x8" },
      { "quantise_blocks_finely", { x = x }, {}, { 2, 3, 5 }, "x15" },
      { "dequantise", { x = x, row_scale = tensor(2, 3, 1), scale = tensor(5) }, {}, { 2, 3, 5 } },
      { "logarithm", { x = x }, { least = 1.0, factor = 2.0, shift = 3.0 }, { 2, 3, 5 } },
      { "channel_factors", { x = x, gain = tensor(5), bias = tensor(5) }, { eps = 1e-5 }, { 2, 2, 5 } },
      { "scale_columns", { x = x, factors = tensor(2, 2, 5) }, {}, { 2, 3, 5 } },
      { "argmax", { x = x }, {}, { 2, 3 } },
      { "topk_values", { x = x }, { k = 4 }, { 2, 3, 4 } },
      { "topk_indices", { x = tensor(2, 5) }, { k = 5 }, { 2, 5 } },
      { "pick", { x = x, chosen = tensor(2, 3, 4) }, {}, { 2, 3, 4 } },
      { "dequantise_experts", { x = x, row_scale = tensor(2, 3, 1), scale = tensor(45), groups = tensor(2, 3, 1) }, {},
        { 2, 3, 5 } },
      { "match_labels", { x = x, labels = x, weight = tensor(10, 9), out = tensor(10, 3),
        marks = tensor(2, 3) }, { most = 4 }, { 2, 3, 12 } },
      { "share", { x = x }, { eps = 1e-20 }, { 2, 3, 5 } },
      { "gate_rows", { a = x, b = tensor(2, 3, 1) }, {}, { 2, 3, 5 } },
      { "gate_rows", { a = x, b = tensor(2, 3, 9) }, { column = 8 }, { 2, 3, 5 } },
      { "row_length", { x = x }, {}, { 2, 3, 1 } },
      { "sparsify", { x = x }, { factor = 1.5 }, { 2, 3, 5 } },
      { "group_rows", { chosen = tensor(2, 3, 4) }, { experts = 9 }, { 2, 3, 4 }, "i32" },
      { "spread", { x = x, groups = tensor(2, 3, 4) }, {}, { 2, 3, 20 } },
      { "combine", { x = tensor(2, 3, 20), weights = tensor(2, 3, 4), groups = tensor(2, 3, 4) }, { factor = 1.0 },
        { 2, 3, 5 } },
    }
    local counted, known = { linear = true, linear_integers = true, convolve = true, convolve_columns = true,
      recurrent = true,
      scores = true, context = true,
      add_relative = true, add_disentangled = true, join = true, scores_of_integers = true,
      context_of_integers = true, linear_experts = true, linear_experts_integers = true }, {}
    for _, case in ipairs(cases) do known[case[1]] = true end
    for name in pairs(ops.table) do assert.is_true(known[name] or counted[name], name) end
    for _, case in ipairs(cases) do
      local op = ops.make(case[1], "input", case[2], case[3])
      assert.same(case[4], op.shape, case[1])
      assert.equal(0, op.flops)
      local gives_indices = case[1] == "argmax" or case[1] == "topk_indices"
      assert.equal(gives_indices and "i32" or case[5] or "f32", op.type)
    end
  end)

  it("refuses a missing operand, an unknown one, a missing attribute and an unknown op", function()
    assert.matches("linear lacks weight", helper.defect(ops.make, "linear", "s", { x = tensor(1, 1, 1) }, {}))
    assert.matches("copy has no operand y", helper.defect(ops.make, "copy", "s", { x = tensor(1), y = tensor(1) }, {}))
    assert.matches("softmax lacks attribute scale",
      helper.defect(ops.make, "softmax", "s", { scores = tensor(1, 1, 1, 1) }, {}))
    assert.matches("nonsense", helper.defect(ops.make, "nonsense", "s", {}, {}))
  end)

  it("declares an equation and at most six operands for each op; only what other stages give has none", function()
    for name, op in pairs(ops.table) do
      assert.is_string(op.equation, name)
      local least = name:match("^take_") and 0 or 1
      assert.is_true(#op.operands >= least and #op.operands <= 6, name)
      assert.is_function(op.shape, name)
    end
  end)
end)

describe("classes", function()
  local fields = { region = true, product = true, packed = true, epilogue = true, takes_epilogue = true,
    in_place = true, role = true, own_keys = true, in_chunks = true, pools = true, in_row_blocks = true,
    windows = true, ends_epilogue = true, in_place_of_floats = true, dots = true, of_ranks = true, meeting = true,
    sends = true, heads_as_rows = true, by_row = true, by_position = true, alike = true,
    adjacent = true, keeps = true, mixes_rows = true, reads_before = true, looks_up = true }

  it("count the flops of experts: of the choices of all rows", function()
    local weight = { name = "w", shape = { 9 * 6, 5 }, kind = "weight", experts = 9 }
    local op = ops.make("linear_experts", "s", { x = tensor(2, 3, 20), groups = tensor(2, 3, 4), weight = weight }, {})
    assert.same({ { 2, 3, 24 }, 2 * 2 * 3 * 4 * 6 * 5, 5, 6 }, { op.shape, op.flops, ops.inputs(op), ops.outputs(op) })
  end)

  it("say no more than the table knows, of operands that are there", function()
    local roles = {}
    for _, role in ipairs(ops.roles) do roles[role] = true end
    for name, op in pairs(ops.table) do
      local class = ops.class(name)
      for field in pairs(class) do assert.is_true(fields[field], name .. " " .. field) end
      if class.role then assert.is_true(roles[class.role], name) end
      for _, operand in ipairs(words.append({ class.packed }, { class.looks_up }, class.by_row)) do
        assert.truthy((" " .. table.concat(op.operands, " ") .. " "):find(" " .. operand .. " ", 1, true), name)
      end
      if class.epilogue then
        assert.same({ "rows", true }, { class.region, class.takes_epilogue or class.ends_epilogue }, name)
      end
    end
  end)

  it("have the roles of the runtime, in its order", function()
    local text = helper.read(helper.root .. "/runtime/base/descriptor.h")
    local list = {}
    for name in text:match("typedef enum {%s*ATTN2C_NO_ROLE,([^}]*)} attn2c_role;"):gmatch("ATTN2C_([A-Z_]+)") do
      list[#list + 1] = name:lower()
    end
    assert.same(ops.roles, list)
  end)

  it("reach the runtime with each op", function()
    local state = helper.tiny({ mask = "causal", head_mask = { { 1, 0.5 } } })
    local found = {}
    for role in helper.emitted(state, "tiny_model.c"):gmatch("attributes_%d+, [%w.e+]+, ATTN2C_([%u_]+) },") do
      found[role] = true
    end
    assert.same({ NO_ROLE = true, MAKES_SCORES = true, SCORES_TO_WEIGHTS = true, WEIGHTS_TO_WEIGHTS = true,
      READS_WEIGHTS = true }, found)
  end)
end)
