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
    assert.equal("[2, 8, 16]", shape(state, "l1.attn.context"))
  end)

  it("counts the multiply-adds that are left", function()
    local state, sum = state_of(), 0
    for _, op in ipairs(state.graph.entry.ops) do sum = sum + op.flops end
    assert.equal(sum, state.graph.entry.flops)
    assert.equal(2 * 2 * 16 * 64, helper.op(state, "l1.ff.up").flops)
  end)

  it("is followed by the stages after it", function()
    local state = state_of { output = { { stage = "pool", over = "last" }, { stage = "linear", to = 3 } },
      mask = "padding" }
    assert.same({ "l1.attn.context.last = pool(l1.attn.context, in.lengths)",
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
    list = table.concat(shrunk(state_of { norm = "pre", parallel = "one_norm", precision = "int8", target = "avx2" }),
      "\n")
    assert.matches("l1.norm1.scale.first = row_scale(l1.norm1.first)", list, 1, true)
    assert.matches("l1.norm1.int8.first = quantise(l1.norm1.first, l1.norm1.scale.first)", list, 1, true)
    assert.matches("l1.ff.up.sums = linear_integers(l1.norm1.int8.first, l1.ff.up.weight)", list, 1, true)
    assert.matches("l1.ff.up = dequantise(l1.ff.up.sums, l1.norm1.scale.first,", list, 1, true)
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
    assert.same({ "1 l0.attn.context.first", "1 in.hidden.first" }, list)
    assert.equal("pooled", segments[2].name)
  end)
end)
