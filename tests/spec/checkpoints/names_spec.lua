-- names_spec: the naming schemes of checkpoints.
local helper = require("tests.spec.helper")
local architectures = require("checkpoints.architectures")
local names = require("checkpoints.names")

-- The schemes of descriptions, and those of GGUF files.
local function every_scheme()
  local list = names.list()
  for architecture in pairs(architectures) do list[#list + 1] = "gguf-" .. architecture end
  return list
end

describe("names", function()
  it("are the graph's own paths in the scheme attn2c", function()
    assert.same({ names = { "l3.attn.q.weight" } }, names.find("attn2c", "l3.attn.q.weight"))
  end)

  it("follow torch.nn.TransformerEncoder: q, k and v are thirds of one tensor", function()
    for part, letter in ipairs { "q", "k", "v" } do
      assert.same({ names = { "encoder.layers.11.self_attn.in_proj_weight", "layers.11.self_attn.in_proj_weight" },
        part = part, parts = 3 }, names.find("torch", "l11.attn." .. letter .. ".weight"))
    end
    assert.same({ names = { "encoder.layers.0.self_attn.in_proj_bias", "layers.0.self_attn.in_proj_bias" }, part = 1,
      parts = 3 },
      names.find("torch", "l0.attn.q.bias"))
  end)

  it("of words in braces are several, and parts are numbered by them", function()
    local when = { "gated", true }
    assert.same({ { "l*.q.weight", { "a.c", "b", part = 1, parts = { "x", "y" }, when = when } },
      { "l*.k.weight", { "a.d", "b", part = 2, parts = { "x", "y" }, when = when } }, { "n", "{expert}.n" },
      { "up", { { "e.up.w" }, join = "rows" } }, { "down", { { "e.down.w" }, join = "rows" } } },
      names.rules { { "l*.{q,k}.weight", { "a.{c,d}", "b", parts = { "x", "y" }, when = when } },
        { "n", "{expert}.n" }, { "{up,down}", { { "e.{up,down}.w" }, join = "rows" } } })
  end)

  it("go by conditions, also by one that asks for false", function()
    local plain = names.find("jina_bert", "l0.ff.up.weight", { gated = false })
    assert.equal("bert.encoder.layer.0.intermediate.dense.weight", plain.names[1])
    local gated = names.find("jina_bert", "l0.ff.up.weight", { gated = true })
    assert.equal("bert.encoder.layer.0.mlp.gated_layers.weight", gated.names[1])
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
      assert.equal(name, found.names[1])
      assert.is_nil(found.part)
    end
  end)

  it("of what PyTorch has no module for are the graph's paths", function()
    assert.same({ names = { "l0.attn.score.weight" } }, names.find("torch", "l0.attn.score.weight"))
  end)

  it("of a decoder are those of TransformerDecoder, with an encoder those of nn.Transformer", function()
    local alone, within = { memory = { seq = 3 } }, { memory = { encoder = {} } }
    for path, name in pairs { ["l1.cross.q.weight"] = "layers.1.multihead_attn.in_proj_weight",
      ["l1.norm_cross.bias"] = "layers.1.norm2.bias", ["l1.norm2.bias"] = "layers.1.norm3.bias",
      ["l1.norm1.bias"] = "layers.1.norm1.bias", ["l1.ff.up.weight"] = "layers.1.linear1.weight" } do
      assert.equal("decoder." .. name, names.find("torch", path, alone).names[1])
      assert.equal(name, names.find("torch", path, alone).names[2])
      assert.equal("decoder." .. name, names.find("torch", path, within).names[1])
    end
    assert.equal("encoder.layers.1.linear1.weight", names.find("torch", "encoder.l1.ff.up.weight", within).names[1])
    assert.equal("decoder.norm.weight", names.find("torch", "final_norm.weight", within).names[1])
  end)

  it("of an attention by itself are those of MultiheadAttention", function()
    local spec = { input = { stage = "qkv" }, d_model = 8, kdim = 8, vdim = 8 }
    assert.same({ "in_proj_weight", 3, 3 }, (function(f) return { f.names[1], f.part, f.parts } end)(names.find("torch",
      "l0.attn.v.weight", spec)))
    spec.vdim = 5
    assert.same({ "v_proj_weight" }, (function(f) return { f.names[1], f.part, f.parts } end)(names.find("torch",
      "l0.attn.v.weight", spec)))
    assert.equal("in_proj_bias", names.find("torch", "l0.attn.v.bias", spec).names[1])
    assert.equal("bias_k", names.find("torch", "l0.attn.bias_k", spec).names[1])
  end)

  it("count torch's output stages from 0", function()
    assert.equal("output.0.weight", names.find("torch", "output.1.norm.weight").names[1])
    assert.equal("output.3.weight", names.find("torch", "output.4.linear.weight").names[1])
    assert.equal("output.9.bias", names.find("torch", "output.10.linear.bias").names[1])
  end)

  it("of a family have its prefixes, and those that old checkpoints give a LayerNorm", function()
    local spec = { input = { types = 2 } }
    local norm = "encoder.layer.7.attention.output.LayerNorm."
    assert.same({ "bert." .. norm .. "weight", "bert." .. norm .. "gamma", norm .. "weight", norm .. "gamma" },
      names.find("bert", "l7.norm1.weight", spec).names)
    assert.same({ "bert." .. norm .. "bias", "bert." .. norm .. "beta", norm .. "bias", norm .. "beta" },
      names.find("bert", "l7.norm1.bias", spec).names)
    assert.same({ "model.layers.2.mlp.up_proj.weight", "transformer.layers.2.mlp.up_proj.weight",
      "layers.2.mlp.up_proj.weight" }, names.find("llama", "l2.ff.up.weight", spec).names)
    assert.same({ names = { "transformer.h.2.attn.c_attn.weight", "h.2.attn.c_attn.weight" }, part = 2, parts = 3,
      transpose = true }, names.find("gpt2", "l2.attn.k.weight", spec))
    assert.same({ "l2.attn.score.weight" }, names.find("bert", "l2.attn.score.weight", spec).names)
  end)

  it("of a model without types have the first type added to positions", function()
    local positions = { "bert.embeddings.position_embeddings.weight", "embeddings.position_embeddings.weight" }
    assert.same({ names = positions }, names.find("bert", "input.positions.weight", { input = { types = 2 } }))
    assert.same({ names = positions, plus = { names = { "bert.embeddings.token_type_embeddings.weight",
      "embeddings.token_type_embeddings.weight" }, row = 0 } },
      names.find("bert", "input.positions.weight", { input = { types = 0 } }))
    local up = "encoder.block.1.layer.1.DenseReluDense."
    assert.same({ up .. "wi.weight" }, names.find("t5", "l1.ff.up.weight", { gated = false }).names)
    assert.same({ up .. "wi_1.weight" }, names.find("t5", "l1.ff.up.weight", { gated = true }).names)
  end)

  it("stop the compiler at a scheme that they do not know", function()
    assert.matches("nobody", helper.defect(names.find, "nobody", "l0.norm1.weight"))
  end)

  it("exist for every weight that the graph can make, in every scheme", function()
    for _, scheme in ipairs(every_scheme()) do
      for _, norm in ipairs { "pre", "post", "none" } do
        local state = helper.tiny({ names = scheme, norm = norm, final_norm = norm ~= "none", input = {
          stage = "tokens", vocab = 5 }, output = { { stage = "norm" }, { stage = "linear", to = 3 } } }, "graph")
        for _, name in ipairs(state.graph.weights) do
          assert.is_truthy(#state.graph.tensors[name].rule.names >= 1, name)
        end
      end
    end
  end)
end)
