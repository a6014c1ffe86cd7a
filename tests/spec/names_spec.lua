-- names_spec: the naming schemes of checkpoints.
local helper = require("tests.spec.helper")
local names = require("names")

describe("names", function()
  it("are the graph's own paths in the scheme attn2c", function()
    assert.same({ "l3.attn.q.weight", part = 1, parts = 1 }, names.find("attn2c", "l3.attn.q.weight"))
  end)

  it("follow torch.nn.TransformerEncoder: q, k and v are thirds of one tensor", function()
    for part, letter in ipairs { "q", "k", "v" } do
      assert.same({ "encoder.layers.11.self_attn.in_proj_weight", "layers.11.self_attn.in_proj_weight",
        part = part, parts = 3 }, names.find("torch", "l11.attn." .. letter .. ".weight"))
    end
    assert.same({ "encoder.layers.0.self_attn.in_proj_bias", "layers.0.self_attn.in_proj_bias", part = 1, parts = 3 },
      names.find("torch", "l0.attn.q.bias"))
  end)

  it("know each other part of torch's module", function()
    local expected = {
      ["l2.attn.out.bias"] = "encoder.layers.2.self_attn.out_proj.bias",
      ["l2.ff.up.weight"] = "encoder.layers.2.linear1.weight",
      ["l2.ff.down.weight"] = "encoder.layers.2.linear2.weight",
      ["l2.norm1.weight"] = "encoder.layers.2.norm1.weight",
      ["l2.norm2.bias"] = "encoder.layers.2.norm2.bias",
      ["final_norm.weight"] = "encoder.norm.weight",
      ["input.tokens.weight"] = "token_embedding.weight",
      ["input.positions.weight"] = "position_embedding.weight",
      ["input.linear.bias"] = "input.bias",
    }
    for path, name in pairs(expected) do
      local found = names.find("torch", path)
      assert.equal(name, found[1])
      assert.equal(1, found.parts)
    end
  end)

  it("count torch's output stages from 0", function()
    assert.equal("output.0.weight", names.find("torch", "output.1.norm.weight")[1])
    assert.equal("output.3.weight", names.find("torch", "output.4.linear.weight")[1])
    assert.equal("output.9.bias", names.find("torch", "output.10.linear.bias")[1])
  end)

  it("stop the compiler at a path or scheme that they do not know", function()
    assert.matches("no name for l0.rope.weight in scheme torch", helper.defect(names.find, "torch", "l0.rope.weight"))
    assert.matches("nobody", helper.defect(names.find, "nobody", "l0.norm1.weight"))
  end)

  it("exist for every weight that the graph can make, in every scheme", function()
    for scheme in pairs(names.schemes) do
      for _, norm in ipairs { "pre", "post", "none" } do
        local state = helper.tiny({ names = scheme, norm = norm, final_norm = norm ~= "none", input = {
          stage = "tokens", vocab = 5 }, output = { { stage = "norm" }, { stage = "linear", to = 3 } } }, "graph")
        for _, name in ipairs(state.graph.weights) do
          assert.is_truthy(#state.graph.tensors[name].names >= 1, name)
        end
      end
    end
  end)
end)
