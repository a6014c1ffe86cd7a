-- weights_spec.lua: the key `weights`: which layers get a type in scale blocks, and the names that are refused.
local helper = require("tests.spec.helper")
local pipeline = require("pipeline")

-- The type of each linear layer and table that is not f32, as "NAME type ...".
local function typed(more)
  local state, list = helper.tiny(more, "graph"), {}
  for _, name in ipairs(state.graph.weights) do
    local type = state.graph.tensors[name].type
    if type ~= "f32" then list[#list + 1] = name:gsub("%.weight$", "") .. " " .. type end
  end
  return table.concat(list, " ")
end

local function refusal(more) return helper.fault(helper.tiny, more, "graph").lines[1] end

describe("the key weights", function()
  it("gives all linear layers a type, or parts and layers their own", function()
    assert.equal("l0.attn.q q4 l0.attn.k q4 l0.attn.v q4 l0.attn.out q4 l0.ff.up q4 l0.ff.down q4",
      typed { weights = "int4", layers = 1 })
    assert.equal("l0.attn.out q8 l0.ff.up q4m l0.ff.down q8f",
      typed { weights = { out = "int8", ff = "int4m", ["l0.ff.down"] = "int8f" }, layers = 1 })
    assert.equal("l1.ff.up q8h", typed { weights = { "none", ["l1.ff.up"] = "int8h" }, layers = 2 })
  end)

  it("is refused where a name is that of no linear layer, or of a layer with another's weights", function()
    for _, path in ipairs { "l0.norm1", "l0.attn.z", "input.positions" } do
      assert.matches("weights: " .. path .. ": the model has no such linear layer$",
        refusal { weights = { "int4", [path] = "int8" } })
    end
    assert.matches("weights: l1.attn.k: the layer has the weights of another one; name l0.attn.k$",
      refusal { layers = 2, layer_groups = { 0, 0 }, weights = { ["l1.attn.k"] = "int8" } })
  end)

  it("is refused where a layer is beyond the last one", function()
    local weights = { "int4", ["l5.attn.v"] = "int8" }
    local function said(layers) return refusal { layers = layers, weights = weights } end
    assert.matches("weights: l5.attn.v: there are 2 layers, numbered from 0$", said(2))
    assert.matches("weights: l5.attn.v: there are no layers$", said(0))
  end)

  it("may name layers that an override has left out", function()
    local file = helper.folder() .. "/named.lua"
    helper.write(file, 'return { name = "named", heads = 2, d_model = 8, seq = 4, layers = 6, '
      .. 'weights = { "none", ["l5.attn.v"] = "int8", ["l0.attn.v"] = "int8" } }')
    local function run(...) return pipeline.run(".", file, { "target=x86_64", ... }, "graph").primary end
    assert.equal("q8", run("layers=1").graph.tensors["l0.attn.v.weight"].type)
    assert.same({}, run("layers=0").graph.weights)
    for _, more in ipairs { { "layers=7", 'weights={["l7.attn.v"]="int8"}' },
      { "layers=1", 'weights={["l5.attn.v"]="int8"}' } } do
      assert.matches("numbered from 0$", helper.fault(run, table.unpack(more)).lines[1])
    end
  end)
end)
