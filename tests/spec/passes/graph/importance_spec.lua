-- importance_spec: which weights of 4 bits have the importance of their inputs, and files that do not fit.
local helper = require("tests.spec.helper")
local importance = require("passes.graph.importance")

local function powers(count)
  local list = {}
  for i = 1, count do list[i] = i % 5 end
  return list
end

-- The graph of a small model, with the importance of the inputs of the products that are named: product -> powers.
local function graph_of(more, named)
  local state = { root = helper.root, file = "tiny.lua", overrides = {}, text = "",
    description = helper.description(more), host = function() return "avx2" end, machine = "A-CPU", notes = {} }
  require("pipeline").step(state, "validate")
  local weighed = {}
  for product, list in pairs(named) do weighed[product] = { powers = list, checksum = #product } end
  state.factors = { of = {}, checksums = {}, weighed = weighed, file = "tiny.factors", hash = "0", asked = true }
  require("pipeline").step(state, "graph")
  return state.primary.graph
end

describe("the importance of inputs", function()
  it("is one for all weights of 4 bits that read a tensor", function()
    local entry = helper.tiny({ weights = { "int4", ["l0.attn.k"] = "int8", ["l0.ff.up"] = "int4m",
      ["l0.ff.down"] = "none" } }, "graph").graph.entry
    local names = {}
    for i, group in ipairs(importance.groups(entry)) do
      names[i] = ("%s %d: %s"):format(group.x.name, group.width, table.concat(group.products, " "))
    end
    assert.same({ "in.hidden 16: l0.attn.q l0.attn.v", "l0.attn.context 16: l0.attn.out", "l0.norm1 16: l0.ff.up" },
      names)
  end)

  it("is not that of inputs whose order is known only when a model is opened", function()
    local of_out = { ["l0.attn.out"] = powers(16) }
    local entry = helper.tiny({ weights = "int4", input_order = { "file", out = "none" } }, "graph").graph.entry
    local groups = importance.groups(entry)
    assert.same({ 1, { "l0.attn.out" } }, { #groups, groups[1].products })
    assert.truthy(graph_of({ weights = "int4" }, of_out).tensors["l0.attn.out.weight"].factors)
    local ordered = graph_of({ weights = "int4", input_order = { "none", out = "file" } }, of_out)
    assert.is_nil(ordered.tensors["l0.attn.out.weight"].factors)
  end)

  it("belongs to weights, whose numbers it does not change, and to no other type", function()
    local graph = graph_of({ weights = { "int4", ["l0.attn.k"] = "int8" } },
      { ["l0.attn.q"] = powers(16), ["l0.attn.k"] = powers(16) })
    assert.same({ powers = powers(16), sign = 0, checksum = #"l0.attn.q" }, graph.tensors["l0.attn.q.weight"].factors)
    assert.is_nil(graph.tensors["l0.attn.k.weight"].factors)
    assert.is_nil(graph.tensors["l0.attn.v.weight"].factors)
    assert.same({ 1, 5 }, { graph.smoothing.weighed, graph.smoothing.in_blocks })
    assert.is_nil(graph_of({ weights = "int4" }, {}).smoothing)
  end)

  it("of another model, of another width, or for no weight of 4 bits is refused", function()
    local function refused(pattern, more, named)
      local fault = helper.fault(function() graph_of(more, named) end)
      assert.equal(2, fault.code)
      assert.truthy(fault.lines[1]:find(pattern, 1, true), fault.lines[1])
      assert.equal(1, #fault.lines)
    end
    refused("the model has no product l7.attn.q; calibrate again", { weights = "int4" }, { ["l7.attn.q"] = powers(16) })
    refused("l0.attn.q has 16 inputs, but the importance of 3; calibrate again", { weights = "int4" },
      { ["l0.attn.q"] = powers(3) })
    refused("nor of 4 bits (key weights)", { weights = "int8" }, { ["l0.attn.q"] = powers(16) })
  end)
end)
