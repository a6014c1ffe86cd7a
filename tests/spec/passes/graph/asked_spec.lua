-- asked_spec: a choice of one row of each sequence is made as early as it can be: which operations have that row alone,
-- which have all, and what is an output.
local helper = require("tests.spec.helper")
local words = require("common.words")

local function state_of(more, wanted)
  local description = { seq = 8, batch = 2, layers = 2, output = { { stage = "pool", over = "first", name = "cls" } } }
  for key, value in pairs(more or {}) do description[key] = value end
  return helper.state(helper.description(description), "graph", wanted)
end

-- The ops from a layer on whose results have one row for each sequence, as texts.
local function shrunk(state)
  local list = {}
  for _, line in ipairs(helper.equations(state)) do
    local name = line:match("^(%S+) =")
    if #state.graph.tensors[name].shape == 2 then list[#list + 1] = line end
  end
  return list
end

local function shape(state, name) return words.shape(state.graph.tensors[name].shape) end

describe("a pool of one row", function()
  it("is made before the operations on rows after the last attention", function()
    local state = state_of()
    assert.same({
      "l1.attn.context.first = pool(l1.attn.context)",
      "l0.norm2.first = pool(l0.norm2)",
      "l1.attn.out = linear(l1.attn.context.first, l1.attn.out.weight, l1.attn.out.bias)",
      "l1.attn.sum = add(l1.attn.out, l0.norm2.first)",
      "l1.norm1 = layer_norm(l1.attn.sum, l1.norm1.weight, l1.norm1.bias)",
      "l1.ff.up = linear(l1.norm1, l1.ff.up.weight, l1.ff.up.bias)",
      "l1.ff.act = activate(l1.ff.up)",
      "l1.ff.down = linear(l1.ff.act, l1.ff.down.weight, l1.ff.down.bias)",
      "l1.ff.sum = add(l1.ff.down, l1.norm1)",
      "l1.norm2 = layer_norm(l1.ff.sum, l1.norm2.weight, l1.norm2.bias)",
    }, shrunk(state))
    assert.same({ "l1.norm2" }, state.graph.entry.outputs)
    local output = state.graph.tensors["l1.norm2"]
    assert.same({ "output", "cls", "b." }, { output.kind, output.member, output.grows })
    assert.is_nil(state.graph.tensors["output.1.pool"])
  end)

  it("is made before the last attention's queries, too, if all of them see the same keys", function()
    local state = state_of { mask = "padding", softcap = 3 }
    assert.same({
      "l0.norm2.first_query = pool(l0.norm2)",
      "l1.attn.q = linear(l0.norm2.first_query, l1.attn.q.weight, l1.attn.q.bias)",
      "l1.attn.k = linear(l0.norm2, l1.attn.k.weight, l1.attn.k.bias)",
      "l1.attn.v = linear(l0.norm2, l1.attn.v.weight, l1.attn.v.bias)",
      "l1.attn.scores = scores(l1.attn.q, l1.attn.k, in.lengths)",
      "l1.attn.scaled = scale(l1.attn.scores)",
      "l1.attn.capped = softcap(l1.attn.scaled)",
      "l1.attn.weights = softmax(l1.attn.capped)",
      "l1.attn.context = context(l1.attn.weights, l1.attn.v, in.lengths)",
      "l1.attn.context.first = pool(l1.attn.context)",
      "l0.norm2.first = pool(l0.norm2)",
    }, table.move(helper.equations(state, "^l[01]%.[an][a-z0-9]+%.?"), 13, 23, 1, {}))
    for name, expected in pairs { ["l0.norm2.first_query"] = "[2, 1, 16]", ["l1.attn.q"] = "[2, 1, 16]",
      ["l1.attn.k"] = "[2, 8, 16]", ["l1.attn.weights"] = "[2, 2, 1, 8]", ["l1.attn.context"] = "[2, 1, 16]" } do
      assert.equal(expected, shape(state, name))
    end
    assert.equal("layer 1", helper.op(state, "l0.norm2.first_query").section)
    local masked = state_of { mask = { "attention_mask", "key_bias" } }
    assert.equal("[2, 2, 1, 8]", shape(masked, "l1.attn.key_bias"))
  end)

  it("is one query of each sequence of a call of any length, and its scores a row for each head", function()
    local state = helper.state(helper.description { seq = { any = 8 }, layers = 1,
      output = { { stage = "pool", over = "first" } } }, "lower")
    local found = {}
    for i, program in ipairs(state.programs) do
      for _, text in ipairs(helper.step_texts(program)) do
        for _, part in ipairs { "for asked", "  l0.attn.q%+0%+sequence%*64%+head%*32",
          "@trace%+0%+sequence%*64%+head%*32 " } do
          if text:find(part) then found[i .. " " .. part] = true end
        end
      end
    end
    assert.same({ ["1 for asked"] = true, ["2 for asked"] = true, ["1   l0.attn.q%+0%+sequence%*64%+head%*32"] = true,
      ["2   l0.attn.q%+0%+sequence%*64%+head%*32"] = true, ["2 @trace%+0%+sequence%*64%+head%*32 "] = true }, found)
  end)

  it("leaves the queries of all rows to an attention that tells them apart", function()
    for _, more in ipairs {
      { mask = "causal" }, { mask = "window", window = { 1, 2 } }, { mask = "prefix", prefix = 3 },
      { positions = "alibi" }, { positions = "t5" }, { positions = "relative_key", max_position = 8 },
      { mask = "additive" }, { mask = { "causal", "padding" } } } do
      local state = state_of(more)
      for _, name in ipairs { "l1.attn.q", "l1.attn.context" } do assert.equal("[2, 8, 16]", shape(state, name)) end
      assert.equal("[2, 16]", shape(state, "l1.attn.out"))
    end
    local shown = state_of { attention_output = "heads" }
    assert.equal("[2, 2, 8, 8]", shape(shown, "l1.attn.weights"))
    local last = state_of { positions = "rope", mask = "padding", output = { { stage = "pool", over = "last" } } }
    assert.equal("[2, 8, 16]", shape(last, "l1.attn.q_rotated"))
    assert.equal("l1.attn.q_rotated.last_query", helper.op(last, "l1.attn.scores").operands.q.name)
  end)

  it("goes over rotations of queries, if all sequences take the same position", function()
    for over, position in pairs { first = 0, second = 1 } do
      local state = state_of { positions = "rope", output = { { stage = "pool", over = over } } }
      assert.equal("[2, 1, 16]", shape(state, "l1.attn.q_rotated"))
      assert.equal(position, helper.op(state, "l1.attn.q_rotated").attributes.row)
      assert.equal("[2, 8, 16]", shape(state, "l1.attn.k_rotated"))
      assert.is_nil(helper.op(state, "l1.attn.k_rotated").attributes.row)
    end
  end)

  it("goes over an attention in int8, with its scales", function()
    local state = state_of { precision = { "int8", attention = "int8" }, target = "avx512vnni" }
    for name, expected in pairs { ["l1.attn.q"] = "[2, 1, 16]", ["l1.attn.weights.scale"] = "[2, 2, 1, 1]",
      ["l1.attn.context"] = "[2, 1, 16]", ["l1.attn.k.centred"] = "[2, 8, 16]" } do
      assert.equal(expected, shape(state, name))
    end
  end)

  it("goes over the attention to a memory, up to the queries of the one before", function()
    local state = state_of { memory = { seq = 5 }, norm = "pre" }
    for name, expected in pairs { ["l1.attn.q"] = "[2, 1, 16]", ["l1.attn.sum"] = "[2, 1, 16]",
      ["l1.cross.q"] = "[2, 1, 16]", ["l1.cross.k"] = "[2, 5, 16]", ["l1.cross.context"] = "[2, 1, 16]",
      ["l1.cross.out"] = "[2, 16]", ["l1.cross.sum"] = "[2, 16]" } do
      assert.equal(expected, shape(state, name), name)
    end
    assert.equal("l1.attn.sum.first", helper.op(state, "l1.cross.sum").operands.b.name)
  end)

  it("takes the queries as they are where a sequence has one", function()
    local state = state_of { input = { stage = "image", height = 8, width = 8, patch = 4, class_token = false },
      seq = 4, output = { { stage = "attend" } } }
    assert.equal("output.1.attend.query", helper.op(state, "output.1.attend.cross.q").operands.x.name)
    assert.equal("[2, 16]", shape(state, "output.1.attend.sum"))
    assert.equal("l0.norm2", helper.op(state_of { seq = 1 }, "l1.attn.q").operands.x.name)
  end)

  it("counts the multiply-adds that are left", function()
    local state, sum = state_of(), 0
    for _, op in ipairs(state.graph.entry.ops) do sum = sum + op.flops end
    assert.equal(sum, state.graph.entry.flops)
    assert.equal(2 * 2 * 16 * 64, helper.op(state, "l1.ff.up").flops)
  end)

  it("gives products the rows of their bound", function()
    local rows = {}
    for _, product in ipairs(helper.state(helper.description { seq = 8, batch = 2, layers = 1, d_ff = 0,
      output = { { stage = "pool", over = "first" } } }, "plan").plan.bound) do
      rows[#rows + 1] = product.name:match(" n (%d+)") .. " is " .. product.rows
    end
    assert.same({ "2 is 2", "16 is 16", "2 is 2" }, rows)
  end)

  it("is followed by the stages after it", function()
    local state = state_of { output = { { stage = "pool", over = "last" }, { stage = "linear", to = 3 } },
      mask = "padding" }
    assert.equal("l0.norm2.last_query = pool(l0.norm2, in.lengths)", helper.equations(state, "_query$")[1])
    assert.same({ "l1.attn.context.last = pool(l1.attn.context)",
      "output.2.linear = linear(l1.norm2, output.2.linear.weight, output.2.linear.bias)" },
      { shrunk(state)[1], shrunk(state)[11] })
  end)

  it("goes over the stages before it", function()
    local state = state_of { output = { { stage = "norm" }, { stage = "linear", to = 3 },
      { stage = "pool", over = "second" } } }
    assert.same({ "output.2.linear" }, state.graph.entry.outputs)
    assert.equal("[2, 3]", shape(state, "output.2.linear"))
    assert.equal("[2, 16]", shape(state, "l1.attn.out"))
  end)

  it("chooses rows of what the attention reads, too, and rounds these again", function()
    local list = shrunk(state_of { norm = "pre", parallel = "one_norm", precision = "bf16",
      target = "avx512bf16" })
    assert.same({ "l1.attn.context.first = pool(l1.attn.context)", "l0.ff.sum.first = pool(l0.ff.sum)",
      "l1.norm1.first = pool(l1.norm1)", "l1.norm1.bf16.first = round(l1.norm1.first)" },
      table.move(list, 1, 4, 1, {}))
    local state = state_of { norm = "pre", parallel = "one_norm", precision = "int8", target = "avx2" }
    assert.same({ "l1.norm1.scale = row_scale(l1.norm1)", "l1.norm1.int8 = quantise(l1.norm1, l1.norm1.scale)",
      "l1.norm1.first_query = pool(l1.norm1)" }, table.move(helper.equations(state, "^l1%.norm1"), 2, 4, 1, {}))
    list = table.concat(shrunk(state), "\n")
    assert.matches("l1.norm1.scale.first = row_scale(l1.norm1.first)", list, 1, true)
    assert.matches("l1.norm1.int8.first = quantise(l1.norm1.first, l1.norm1.scale.first)", list, 1, true)
    assert.matches("l1.ff.up.sums = linear_integers(l1.norm1.int8.first, l1.ff.up.weight)", list, 1, true)
    assert.matches("l1.ff.up = dequantise(l1.ff.up.sums, l1.norm1.scale.first,", list, 1, true)
  end)

  it("is among the same operations on all targets of a list, so that one description is for all", function()
    for target, suffix in pairs { avx512bf16 = "bf16", avx2 = "bf16_floats" } do
      local list = shrunk(state_of { precision = { "bf16", attention = "f32" }, norm = "pre", parallel = "one_norm",
        target = target })
      assert.same({ "l1.norm1.first = pool(l1.norm1)", ("l1.norm1.%s.first = round(l1.norm1.first)"):format(suffix) },
        table.move(list, 3, 4, 1, {}))
    end
    for _, target in ipairs { "avx512bf16, avx512, avx2", "avx512bf16, x86_64" } do
      for _, more in ipairs { { precision = "bf16" }, { precision = { "bf16", attention = "f32" } },
        { precision = { "int8", ff = "bf16" }, norm = "pre", parallel = "one_norm" } } do
        more.target, more.kernels, more.output = target, "c", { { stage = "pool", over = "first", name = "cls" } }
        assert.matches("tiny", helper.tiny(more, "emit").files[1].text)
      end
    end
  end)

  it("stays where an output has all rows, or other rows are chosen", function()
    for _, output in ipairs {
      { { stage = "hidden" }, { stage = "pool", over = "first" } },
      { { stage = "pool", over = "first" }, { stage = "pool", over = "last", of = 0 } },
      { { stage = "pool", over = "first" }, { stage = "pool", over = "mean", of = 0 } },
      { { stage = "pool", over = { "first", "last" } } },
      { { stage = "pool", over = "mean" } },
      { { stage = "pool", over = "first", name = "a" }, { stage = "pool", over = "first", of = 0, name = "b" } },
    } do
      local state = state_of { output = output }
      assert.equal("[2, 8, 16]", shape(state, "l1.norm2"))
      assert.equal("[2, 8, 16]", shape(state, "l1.attn.out"))
    end
    local masked = state_of { output = { { stage = "pool", over = "last", mask = true } } }
    assert.equal("[2, 8, 16]", shape(masked, "l1.norm2"))
  end)

  it("is one pool where two stages choose the same rows", function()
    local state = state_of { output = { { stage = "pool", over = "first" }, { stage = "linear", to = 3, name = "a" },
      { stage = "pool", over = "first", of = 0 }, { stage = "linear", to = 4, name = "b" } } }
    assert.equal("[2, 16]", shape(state, "l1.norm2"))
    for _, name in ipairs { "output.2.linear", "output.4.linear" } do
      assert.equal("l1.norm2", helper.op(state, name).operands.x.name)
    end
  end)

  it("does not go over positions, a convolution or an attention", function()
    local positions = state_of { layers = 0, input = { stage = "tokens", vocab = 9 }, positions = "learned" }
    assert.equal("[2, 8, 16]", shape(positions, "input.states"))
    assert.same({ "output.1.pool" }, positions.graph.entry.outputs)
    local bare = state_of { layers = 0 }
    assert.same({ "output.1.pool" }, bare.graph.entry.outputs)
  end)

  it("stays where it was where tensors inside become outputs", function()
    local state = state_of(nil, { exposed = true })
    assert.equal("[2, 8, 16]", shape(state, "l1.norm2"))
  end)

  it("comes before the rows of all sequences are taken together", function()
    local list, segments = {}, helper.state(helper.description { seq = 8, batch = 2, layers = 1,
      output = { { stage = "pool", over = "first" } } }, "plan").plan.segments
    for i, segment in ipairs(segments) do
      for _, section in ipairs(segment.sections) do
        for _, region in ipairs(section.regions) do
          if region.kind == "sequence" then list[#list + 1] = i .. " " .. region.op.result.name end
        end
      end
    end
    assert.same({ "1 in.hidden.first_query", "1 l0.attn.context.first", "1 in.hidden.first" }, list)
    assert.equal("pooled", segments[2].name)
  end)
end)
