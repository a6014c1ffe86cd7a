-- layers_spec: windows and keys of single layers, from facts.
local helper = require("tests.spec.helper")
local layers = require("checkpoints.layers")

-- Facts of three layers with a window of five tokens.
local function facts(more)
  local result = { layers = 3, window = 5, longest = 64 }
  for key, value in pairs(more or {}) do result[key] = value end
  return result
end

local function windows(sliding, more)
  local made = facts(more)
  layers.set_windows(made, sliding)
  return made
end

describe("windows", function()
  it("of all layers are one fact, and those of some belong to layers", function()
    local all = windows { true, true, true }
    assert.same({ 5 }, { all.window, all.each })
    local some = windows { false, true, false }
    assert.is_false(some.window)
    assert.same({ {}, { window = 5 }, {} }, some.each)
    local none = windows { false, false, false }
    assert.is_false(none.window)
    assert.is_nil(none.each)
  end)

  it("stay if they are as long as the model's positions, which a context may exceed", function()
    assert.equal(5, windows({ true, true, true }, { longest = 5 }).window)
    assert.equal(32768, windows({ true, true, true }, { window = 1 << 20 }).window)
  end)

  it("join what a layer has already", function()
    local made = facts()
    layers.own(made, 1).rope_dim = 0
    layers.set_windows(made, { true, true, false })
    assert.same({ { window = 5 }, { rope_dim = 0, window = 5 }, {} }, made.each)
  end)

  it("need their switch, where a family has one", function()
    local line = helper.fault(layers.set_used_windows, facts(), { false, true, false }).lines[1]
    assert.equal("config.json: layer_types: sliding_attention without use_sliding_window", line)
    local made = facts { use_window = true }
    layers.set_used_windows(made, { true, true, true })
    assert.equal(5, made.window)
  end)
end)

describe("layer_types", function()
  it("say which layers slide, before anything else", function()
    local function first(i) return i == 0 end
    assert.same({ true, false, false }, layers.sliding(facts(), first))
    assert.same({ false, true, false }, layers.sliding(facts { layer_types = { "full_attention", "sliding_attention",
      "full_attention" } }, first))
  end)

  it("are refused where they are wrong", function()
    for said, list in pairs {
      ["config.json: layer_types: 1 values, but one for each of 3 layers is expected"] = { "full_attention" },
      ['config.json: layer_types: "linear_attention" is not supported; supported are full_attention, sliding_attention']
        = { "full_attention", "linear_attention", "full_attention" },
      ["config.json: layer_types: 5 is not supported; supported are full_attention, sliding_attention"] = { 5, 5, 5 },
    } do
      assert.equal(said, helper.fault(layers.sliding, facts { layer_types = list }).lines[1])
    end
  end)
end)
