-- sources_spec: rules as boxes: each kind of rule against its definition, element by element, and
-- the rules that a description may have.
local helper = require("tests.spec.helper")
local names = require("checkpoints.names")
local sources = require("checkpoints.sources")

local SPEC = { heads = 4, kv_heads = 2, head_dim = 6, rope_dim = 6 }

-- The weight that boxes make of tensors: an element is its tensor's number and index. Adds where boxes add.
local function weight_of(shape, rule, more)
  local tensor = { name = "w", shape = shape, source = more or {} }
  local from = sources.of(tensor, rule, SPEC)
  local rows, columns = shape[1], shape[2] or 1
  local result, written = {}, {}
  for _, view in ipairs(from.views) do
    for i = 0, view.rows - 1 do
      for j = 0, view.columns - 1 do
        local at = (view.row + i) * columns + view.column + j
        local value = view.factor * (view.stored * 1e6 + view.first + i * view.row_step + j * view.column_step
          + (view.plus_one and 0.5 or 0))
        assert(view.added == (written[at] ~= nil), "an element is written twice, or added to nothing")
        result[at], written[at] = (result[at] or 0) + value, true
      end
    end
  end
  for at = 0, rows * columns - 1 do assert(written[at], "an element is not written") end
  return function(r, c) return result[r * columns + (c or 0)] end, from
end

-- Asserts that element (r, c) is what a function says: an index of the first tensor.
local function assert_elements(shape, rule, index, more)
  local at = weight_of(shape, rule, more)
  for r = 0, shape[1] - 1 do
    for c = 0, (shape[2] or 1) - 1 do assert.equal(1e6 + index(r, c), at(r, c), ("%d %d"):format(r, c)) end
  end
end

describe("a weight", function()
  it("is a whole tensor", function()
    assert_elements({ 5, 7 }, { names = { "t" } }, function(r, c) return 7 * r + c end)
    assert_elements({ 5 }, { names = { "t" } }, function(r) return r end)
  end)

  it("is an equal part of the rows, or one of unequal ones", function()
    local rule = { names = { "t" }, part = 3, parts = 3 }
    assert_elements({ 4, 7 }, rule, function(r, c) return 7 * (8 + r) + c end)
    local _, from = weight_of({ 4, 7 }, rule)
    assert.same({ 12, 7 }, from.stored[1].shape)
    rule = { names = { "t" }, part = 2, parts = { 9, 4, 2 } }
    assert_elements({ 4, 7 }, rule, function(r, c) return 7 * (9 + r) + c end)
    assert_elements({ 4 }, rule, function(r) return 9 + r end)
    rule = { names = { "t" }, part = 2, parts = { "heads", "kv_heads", "kv_heads" } } -- 24, 12 and 12 rows
    assert_elements({ 12, 5 }, rule, function(r, c) return 5 * (24 + r) + c end)
    assert_elements({ 12 }, { names = { "t" }, part = 3, parts = rule.parts }, function(r) return 36 + r end)
    rule = { names = { "t" }, part = 2, parts = { 9, 4, 2 } }
    local fault = helper.fault(weight_of, { 5, 7 }, rule)
    assert.matches("names: w: part 2 has 4 rows, but the weight has 5", fault.lines[1])
  end)

  it("is a part of each head, of groups of heads, or every third row", function()
    local rule = { names = { "t" }, part = 2, parts = 3, groups = "heads" }
    assert_elements({ 24, 5 }, rule, function(r, c) return 5 * (r // 6 * 18 + 6 + r % 6) + c end)
    rule = { names = { "t" }, part = 1, parts = { 12, 6, 6 }, groups = "kv_heads" } -- two queries, a key, a value
    assert_elements({ 24, 5 }, rule, function(r, c) return 5 * (r // 12 * 24 + r % 12) + c end)
    rule.parts = { "heads", "kv_heads", "kv_heads" } -- a group's share of each
    assert_elements({ 24, 5 }, rule, function(r, c) return 5 * (r // 12 * 24 + r % 12) + c end)
    rule.part = 3
    assert_elements({ 12, 5 }, rule, function(r, c) return 5 * (r // 6 * 24 + 18 + r % 6) + c end)
    rule = { names = { "t" }, part = 3, parts = 3, groups = "rows" }
    assert_elements({ 8, 5 }, rule, function(r, c) return 5 * (3 * r + 2) + c end)
  end)

  it("of experts is one tensor for each, or has them as the first axis", function()
    local three = { experts = 3 }
    local at, from = weight_of({ 6, 5 }, { names = { "a.{expert}.w", "b{expert}" } }, three)
    for r = 0, 5 do for c = 0, 4 do assert.equal((r // 2 + 1) * 1e6 + 5 * (r % 2) + c, at(r, c)) end end
    assert.same({ 3, { "a.2.w", "b2" }, { 2, 5 } }, { #from.stored, from.stored[3].names, from.stored[3].shape })
    assert_elements({ 6, 5 }, { names = { "t" } }, function(r, c) return 5 * r + c end, three)
    from = select(2, weight_of({ 6, 5 }, { names = { "t" } }, three))
    assert.same({ 1, { 3, 2, 5 } }, { #from.views, from.stored[1].shape })
    assert_elements({ 6 }, { names = { "t" } }, function(r) return r end, three)
    local half = { names = { "t" }, part = 2, parts = 2 }
    assert_elements({ 6, 5 }, half, function(r, c) return 5 * (r // 2 * 4 + 2 + r % 2) + c end, three)
    local turned = { names = { "t" }, flat = true, transpose = true }
    assert_elements({ 6, 5 }, turned, function(r, c) return r // 2 * 10 + 2 * c + r % 2 end, three)
    from = select(2, weight_of({ 6, 5 }, turned, three))
    assert.same({ 15, 2 }, from.stored[1].shape)
  end)

  it("is transposed where the rule says so, and a vector never is", function()
    local rule = { names = { "t" }, part = 2, parts = 3, transpose = true }
    assert_elements({ 6, 6 }, rule, function(r, c) return 18 * c + 6 + r end)
    assert_elements({ 6 }, rule, function(r) return 6 + r end)
    local _, from = weight_of({ 6, 6 }, rule)
    assert.same({ 6, 18 }, from.stored[1].shape)
  end)

  it("has halves where the tensor has pairs, in each head", function()
    local function pair(r) return r // 6 * 6 + r % 3 * 2 + r % 6 // 3 end
    assert_elements({ 24, 5 }, { names = { "t" }, unpair = true }, function(r, c) return 5 * pair(r) + c end)
    assert_elements({ 24, 5 }, { names = { "t" }, unpair = true, transpose = true }, function(r, c)
      return 24 * c + pair(r)
    end)
  end)

  it("has one more than what is stored, before its factor", function()
    local at = weight_of({ 3, 4 }, { names = { "t" }, factor = 2, plus_one = true })
    assert.equal(2 * (1e6 + 6.5), at(1, 2)) -- weight_of counts 0.5 for it
  end)

  it("is scaled, and a sum", function()
    local at = weight_of({ 3, 4 }, { names = { "t" }, factor = 0.5, plus = { names = { "u" }, row = 2, factor = 2 } })
    for r = 0, 2 do
      for c = 0, 3 do assert.equal(0.5 * (1e6 + 4 * r + c) + 2 * (2e6 + 8 + c), at(r, c)) end
    end
    local _, from = weight_of({ 3, 4 }, { names = { "t" }, plus = { names = { "u" }, row = 2 } })
    assert.same({ -1, 4 }, from.stored[2].shape)
  end)

  it("is several tensors one after the other, by rows or by columns", function()
    local pieces = { { names = { "t" } }, { names = { "u" } } }
    local at = weight_of({ 4, 6 }, { join = "rows", pieces = pieces })
    assert.same({ 1e6, 1e6 + 11, 2e6, 2e6 + 11 }, { at(0, 0), at(1, 5), at(2, 0), at(3, 5) })
    at = weight_of({ 4, 6 }, { join = "columns", factor = 0.5, pieces = pieces })
    assert.same({ 0.5e6, 0.5 * (2e6 + 11) }, { at(0, 0), at(3, 5) })
  end)

  it("takes the graph's heads and positions of what the rule gives", function()
    local heads = { heads = { 0, 2, 3 }, all = 4, axis = 1 }
    local function kept(r) return ({ [0] = 0, 2, 3 })[r // 6] * 6 + r % 6 end
    assert_elements({ 18, 5 }, { names = { "t" } }, function(r, c) return 5 * kept(r) + c end, heads)
    assert_elements({ 18, 5 }, { names = { "t" }, part = 2, parts = 3, transpose = true }, function(r, c)
      return 72 * c + 24 + kept(r)
    end, heads)
    assert_elements({ 5, 18 }, { names = { "t" } }, function(r, c) return 24 * r + kept(c) end,
      { heads = { 0, 2, 3 }, all = 4, axis = 2 })
    assert_elements({ 3, 4 }, { names = { "t" } }, function(r, c) return 4 * (r + 2) + c end, { rows = 9, first = 2 })
  end)
end)

describe("a source of an image's weights", function()
  local spec = { input = { stage = "image", height = 8, width = 12, patch = 4, class_token = true } }
  local function tensor(rows, columns) return { name = "t", shape = { rows, columns }, source = {} } end

  it("multiplies the rows by another tensor", function()
    local made = sources.of(tensor(3, 5), { names = { "t" }, times = { names = { "f" } } }, {})
    assert.same({ { names = { "t" }, shape = { 3, 5 } }, { names = { "f" }, shape = { 3 } } }, made.stored)
    assert.same({ stored = 2, times = true, row = 0, rows = 3, column = 0, columns = 5, first = 0, row_step = 1,
      column_step = 0, factor = 1 }, made.views[2])
    assert.equal(" from t times f", sources.text { names = { "t" }, times = { names = { "f" } } })
  end)

  it("joins pieces of different sizes", function()
    local made = sources.of(tensor(4, 5), { join = "rows", pieces = { { names = { "a" }, count = 1 },
      { names = { "b" } } } }, {})
    assert.same({ { 1, 5 }, { 3, 5 } }, { made.stored[1].shape, made.stored[2].shape })
    assert.same({ 0, 1, 1, 3 }, { made.views[1].row, made.views[1].rows, made.views[2].row, made.views[2].rows })
    assert.is_truthy(helper.fault(sources.of, tensor(4, 5), { join = "rows", pieces = { { names = { "a" }, count = 2 },
      { names = { "b" }, count = 1 } } }, {}))
  end)

  it("interpolates positions", function()
    local rule = { names = { "p" }, grid = { 5, 7 }, smooth = true }
    local made = sources.of(tensor(8, 3), rule, spec) -- a class token and a register
    assert.same({ 36, 3 }, made.stored[1].shape)
    assert.same({ { stored = 1, row = 0, rows = 1, column = 0, columns = 3, first = 0, row_step = 3, column_step = 1,
      factor = 1 }, { stored = 1, row = 1, rows = 1, column = 0, columns = 3, first = 0, row_step = 0,
      column_step = 1, factor = 0 }, { stored = 1, row = 2, rows = 6, column = 0, columns = 3, first = 3,
      row_step = 5 << 16 | 7, column_step = 3, factor = 1, resized = true, smooth = true } }, made.views)
    local whole = sources.of(tensor(7, 3), { names = { "p" }, grid = { 2, 3 } }, spec).views
    assert.equal(2, #whole)
    assert.is_nil(whole[2].resized)
    assert.is_truthy(helper.fault(sources.of, tensor(8, 3), rule, { input = { stage = "tokens" } }))
    -- Tables of patches alone, and of two tokens.
    local alone = sources.of(tensor(6, 3), { names = { "p" }, grid = { 5, 7 }, tokens = 0 }, spec)
    assert.same({ 35, 3 }, alone.stored[1].shape)
    assert.same({ 1, 0, 0, 6 }, { #alone.views, alone.views[1].first, alone.views[1].row, alone.views[1].rows })
    local two = sources.of(tensor(8, 3), { names = { "p" }, grid = { 5, 7 }, tokens = 2 }, spec)
    assert.same({ 37, 3 }, two.stored[1].shape)
    assert.same({ 2, 2, 6, 2 }, { #two.views, two.views[1].rows, two.views[2].first, two.views[2].row })
    assert.matches("grid: goes with the positions of an image with at least 2 tokens of its own",
      helper.fault(sources.of, tensor(7, 3), { names = { "p" }, grid = { 5, 7 }, tokens = 2 }, spec).lines[1])
  end)
end)

describe("names as a table", function()
  local function weight(path, table_, more)
    local description = { names = table_ }
    for key, value in pairs(more or {}) do description[key] = value end
    return helper.tiny(description, "graph").graph.tensors[path]
  end

  it("have rules of their own before those of the scheme", function()
    local table_ = { "torch", ["l*.attn.q"] = "trunk.*.query", ["l0.ff.up.weight"] = { "a", "b", transpose = true } }
    assert.same({ "trunk.0.query.weight" }, weight("l0.attn.q.weight", table_).rule.names)
    assert.same({ "trunk.0.query.bias" }, weight("l0.attn.q.bias", table_).rule.names)
    assert.same({ "a", "b" }, weight("l0.ff.up.weight", table_).rule.names)
    assert.same({ 16, 64 }, weight("l0.ff.up.weight", table_).from.stored[1].shape)
    assert.equal("encoder.layers.0.linear2.weight", weight("l0.ff.down.weight", table_).rule.names[1])
  end)

  it("have prefixes, and modules by other names", function()
    assert.same({ "m.encoder.layer.0.output.dense.weight", "encoder.layer.0.output.dense.weight" },
      weight("l0.ff.down.weight", { "bert", prefix = { "m.", "" } }).rule.names)
    assert.same({ "trunk.blocks.0.linear2.weight", "blocks.0.linear2.weight" },
      weight("l0.ff.down.weight", { "torch", modules = { encoder = "trunk", layers = "blocks" } }).rule.names)
  end)

  it("know gamma and beta", function()
    assert.same({ "bert.embeddings.LayerNorm.weight", "bert.embeddings.LayerNorm.gamma", "embeddings.LayerNorm.weight",
      "embeddings.LayerNorm.gamma" }, names.find("bert", "input.norm.weight").names)
  end)

  it("are refused where they are wrong", function()
    for line, table_ in pairs {
      ['names: "brt", but'] = { "brt" }, ["names.l*.attn.q: a rule has no field \"prt\""] = {
        ["l*.attn.q"] = { "x", prt = 1 } },
      ["names.l*.attn.q: part and parts go together"] = { ["l*.attn.q"] = { "x", part = 1 } },
      ["names.l*.attn.q.part: 4, but 1 to 3 is allowed"] = { ["l*.attn.q"] = { "x", part = 4, parts = 3 } },
      ["names.l*.attn.q: a rule begins with the name"] = { ["l*.attn.q"] = {} },
      ["names.l*.attn.q: 5, but the name of a tensor"] = { ["l*.attn.q"] = 5 },
      ["names.l*.attn.q.factor: 0 is not allowed here"] = { ["l*.attn.q"] = { "x", factor = 0 } },
      ["names.prefix: 7, but a text is expected"] = { prefix = 7 },
      ["names.modules: 7, but"] = { modules = 7 },
      ["names: 2, but the path of a weight"] = { "torch", "x" },
    } do
      local lines = helper.refusals(helper.description({ names = table_ }))
      assert.is_truthy(lines[1] and lines[1]:find(line, 1, true), line .. "\n" .. tostring(lines[1]))
    end
  end)

  it("are refused where the model has no such weight", function()
    local fault = helper.fault(weight, "x", { ["l*.attn.kyu"] = "y" })
    assert.same({ "names: l*.attn.kyu: the model has no such weight; did you mean l*.attn.k?" }, fault.lines)
  end)

  it("are refused with the path that was meant", function()
    local output = { { stage = "pool", over = "mean" }, { stage = "linear", to = 4 } }
    for path, meant in pairs { ["output.2"] = "output.2.linear", ["l*.attn"] = "l*.attn.q", ["l0.ff"] = "l0.ff.up",
      ["output.linear.weight"] = "output.2.linear.weight" } do
      local fault = helper.fault(weight, "x", { "torch", [path] = "head" }, { output = output })
      assert.same({ ("names: %s: the model has no such weight; did you mean %s?"):format(path, meant) }, fault.lines)
    end
    assert.same({ "head.weight" }, weight("output.2.linear.weight", { "torch", ["output.2.linear"] = "head" },
      { output = output }).rule.names)
  end)
end)
