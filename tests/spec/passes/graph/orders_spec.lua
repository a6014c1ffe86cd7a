-- orders_spec: linear layers whose inputs are in the order of a checkpoint's groups: which gathers of columns are left,
-- and which weights have their rows in an order instead.
local helper = require("tests.spec.helper")

local function graph_of(more) return helper.tiny(more, "graph").graph end

-- The gathers of a graph, as texts.
local function gathers(graph)
  local list = {}
  for _, op in ipairs(graph.entry.ops) do
    if op.op == "gather_columns" then
      list[#list + 1] = ("%s of %s by %s"):format(op.result.name, op.operands.x.name, op.operands.order.name)
    end
  end
  return list
end

-- The weights whose rows are in the order of another one's inputs, as texts.
local function ordered(graph)
  local list = {}
  for _, name in ipairs(graph.weights) do
    local of = graph.tensors[name].row_order
    if of then list[#list + 1] = name .. " by " .. of.name end
  end
  return list
end

local GATED = { "l0.ff.gate.weight by l0.ff.down.weight", "l0.ff.up.weight by l0.ff.down.weight" }

local function with(more)
  local result = { weights = "int4", input_order = "file", gated = true, activation = "silu",
    bias = { qkv = true, ff = false } }
  for key, value in pairs(more or {}) do result[key] = value end
  return result
end

describe("an order of inputs", function()
  it("is shared by the layers that read the same numbers", function()
    local graph = graph_of(with())
    assert.same({ "in.hidden.ordered of in.hidden by l0.attn.q.weight.order",
      "l0.attn.context.ordered of l0.attn.context by l0.attn.out.weight.order",
      "l0.norm1.ordered of l0.norm1 by l0.ff.gate.weight.order" }, gathers(graph))
    for _, name in ipairs { "k", "v" } do
      assert.equal("l0.attn.q.weight", graph.tensors["l0.attn." .. name .. ".weight"].order_like.name)
    end
    assert.equal("l0.ff.gate.weight", graph.tensors["l0.ff.up.weight"].order_like.name)
    assert.is_nil(graph.tensors["l0.attn.q.weight"].order_like)
    assert.is_true(graph.tensors["l0.ff.down.weight"].in_groups)
  end)

  it("is a layer's own if it has to be, and others have none", function()
    local graph = graph_of(with { input_order = { "file", ["l0.attn.k"] = "own", out = "none", ff = "none" } })
    assert.same({ "in.hidden.ordered of in.hidden by l0.attn.q.weight.order",
      "l0.attn.k.own_ordered of in.hidden by l0.attn.k.weight.order" }, gathers(graph))
    assert.is_nil(graph.tensors["l0.attn.out.weight"].in_groups)
    assert.is_nil(graph.tensors["l0.attn.k.weight"].order_like)
  end)

  it("that is a layer's own is not the order of its results", function()
    local graph = graph_of(with { norm = "pre", final_norm = false, residual = false,
      input_order = { "file", ff = "own" }, output = { { stage = "linear", to = 5 } } })
    assert.truthy(table.concat(ordered(graph), "; "):find("l0.ff.down.weight by output.1.linear.weight", 1, true))
  end)

  it("is that of the rows of the products before, where these alone make the inputs", function()
    local graph = graph_of(with())
    assert.same(GATED, ordered(graph))
    assert.is_nil(graph.tensors["l0.ff.down.weight.order"])
    assert.is_nil(graph.tensors["l0.ff.gated.ordered"])
    local plain = graph_of { weights = "int4", input_order = "file" }
    assert.same({ "l0.ff.up.weight by l0.ff.down.weight", "l0.ff.up.bias by l0.ff.down.weight" }, ordered(plain))
  end)

  it("is not that of f32: tensors that have it are not compared with those of f32", function()
    local list, state = {}, helper.state(helper.description(with()), "graph", { exposed = true })
    for _, each in ipairs(state.graph.exposed) do list[each.name] = true end
    assert.same({ true, true }, { list["l0.attn.q"], list["l0.norm1"] })
    for _, name in ipairs { "gate", "up", "gated" } do assert.is_nil(list["l0.ff." .. name], name) end
  end)

  it("is that of the rows of products of floats, too", function()
    assert.same(GATED, ordered(graph_of(with { weights = { "none", ["l0.ff.down"] = "int4" } })))
  end)

  it("is so in layers that have the same weights, and not if one of these reads them otherwise", function()
    local shared = with { layers = 2, layer_groups = { 0, 0 } }
    local graph = graph_of(shared)
    assert.same(GATED, ordered(graph))
    assert.equal(6, #gathers(graph))
  end)

  it("leaves no trace if nobody asks for it, and in layers that are no blocks", function()
    for _, more in ipairs { with { input_order = "none" }, with { weights = "none" } } do
      local graph = graph_of(more)
      assert.same({ {}, {} }, { gathers(graph), ordered(graph) })
      for name, tensor in pairs(graph.tensors) do
        assert.is_nil(name:find("order", 1, true), name)
        assert.is_nil(tensor.in_groups, name)
      end
    end
    local texts = {}
    for i, more in ipairs { with { input_order = "none" }, with() } do
      local list = {}
      for j, file in ipairs(helper.tiny(more, "emit").files) do list[j] = file.text end
      texts[i] = table.concat(list)
    end
    assert.is_nil(texts[1]:find("attn2c_input_order", 1, true))
    assert.is_nil(texts[1]:find("gather_columns", 1, true))
    assert.is_truthy(texts[2]:find(".orders = orders,", 1, true))
  end)

  it("of what does not exist is refused", function()
    for line, more in pairs {
      ["tiny.lua: input_order: goes with weights in scale blocks (key weights)"] = { input_order = "file" },
      ['tiny.lua: weights: "int9", but ' .. require("data.scale_blocks").text()
        .. " is allowed (did you mean int8?)"] = with { weights = "int9" },
      ['tiny.lua: input_order: "groups", but none, file or own is allowed'] = with { input_order = "groups" },
      ["input_order: l0.ff.away: the model has no such linear layer"] = with {
        input_order = { "none", ["l0.ff.away"] = "own" } },
      ["input_order: l1.ff.up: there are 1 layers, numbered from 0"] = with {
        input_order = { "none", ["l1.ff.up"] = "own" } },
      ["tiny.lua: input_order: layer 1 has the weights of another layer, which has another order of inputs"] = with {
        layers = 2, layer_groups = { 0, 0 }, input_order = { "file", ["layer 1"] = "none" } },
      ["tiny.lua: input_order: layer 7, but there are 1, numbered from 0"] = with {
        input_order = { "none", ["layer 7"] = "own" } },
    } do
      local fault = helper.fault(graph_of, more)
      assert.is_truthy(fault, line)
      assert.same({ line }, fault.lines)
      assert.equal(2, fault.code)
    end
  end)
end)
