-- layers_spec: a layer that differs from the others is the layer of a model all of whose layers
-- are so; and a list of layers that do not differ is the model with their number, byte for byte.
local helper = require("tests.spec.helper")
local ops = require("data.ops")
local words = require("common.words")

-- An operand: a constant by its formula, which may go by another name where layers differ; what an earlier layer made
-- by its shape alone.
local function operand_text(tensor, layer)
  local before = tensor.kind ~= "constant" and tensor.name:match("^l(%d+)")
  if before and tonumber(before) ~= layer then return words.shape(tensor.shape) end
  return (tensor.kind == "constant" and tensor.formula or tensor.name) .. words.shape(tensor.shape)
end

-- Returns the ops of a layer as text, a line each.
local function layer_text(description, layer)
  local lines = {}
  for _, op in ipairs(helper.state(description, "graph").graph.entry.ops) do
    if op.section == "layer " .. layer then
      local parts = { op.result.kind == "output" and "output" or "", operand_text(op.result, layer), op.op }
      for _, name in ipairs(ops.table[op.op].operands) do
        if op.operands[name] then parts[#parts + 1] = name .. "=" .. operand_text(op.operands[name], layer) end
      end
      for _, name in ipairs(words.sorted_keys(op.attributes)) do
        parts[#parts + 1] = name .. ":" .. tostring(op.attributes[name])
      end
      lines[#lines + 1] = table.concat(parts, " ")
    end
  end
  assert(#lines > 2)
  return table.concat(lines, "\n")
end

-- Keys that a layer may give. Each is tried alone; the inputs of its masks come from the model's other layers, too.
local differences = {
  { d_ff = 7 }, { d_ff = 0 }, { gated = true }, { activation = "silu" }, { norm = "pre" }, { norm = "none" },
  { norm_kind = "rms" }, { eps = 0.25 }, { residual = false }, { bias = false }, { bias = { qkv = false } },
  { kv_heads = 1 }, { scale = 0.5 }, { softcap = 3 }, { weighting = "relu" }, { fully_masked = "nan" },
  { mask = "causal" }, { mask = { window = { 2, 1 } } }, { mask = { "causal", "padding" } },
  { mask = "window", window = { 1, 1 } }, { mask = "prefix", prefix = 3 }, { mask = "padding", mask_value = -100 },
  { mask = { "key_padding", "additive" } }, { mask = "blocked_heads" }, { rope_theta = 500 },
  { rope_dim = 4 }, { rope_dim = 0 }, { rope_scaling = { type = "linear", factor = 2 } }, { norm = "sandwich" },
  { norm = "res_post" }, { qk_norm = "heads" }, { qk_norm = "all" }, { norm = "pre", parallel = "two_norms" },
  { norm = "pre", parallel = "one_norm" }, { norm = "pre_ff" },
}

local bases = {
  { positions = "rope", attention_output = "heads" },
  { head_mask = { { 1, 0.5 }, { 1, 0 } }, memory = { seq = 5, mask = "padding" }, mask = "padding" },
  { past = 3, positions = "alibi", bias_kv = true, output = { { stage = "pool", over = "first" } } },
}

local function copied(...)
  local result = helper.description({ layers = 2, target = "avx512" })
  for _, each in ipairs { ... } do for key, value in pairs(each) do result[key] = value end end
  return result
end

describe("a layer that differs", function()
  it("is a layer of the model whose layers are all like it, and leaves the other alone", function()
    for _, base in ipairs(bases) do
      for _, difference in ipairs(differences) do
        local about = table.concat(words.sorted_keys(difference), " ")
        local all = copied(base, difference)
        for layer = 0, 1 do
          local list = { {}, {} }
          list[layer + 1] = difference
          local mixed = copied(base, { layers = list })
          if #helper.refusals(all) == 0 then
            assert.same({}, helper.refusals(mixed), about)
            assert.equal(layer_text(all, layer), layer_text(mixed, layer), about)
            assert.equal(layer_text(copied(base), 1 - layer), layer_text(mixed, 1 - layer), about)
          end
        end
      end
    end
  end)

  it("gives the model the inputs of its mask, and takes none where all give another", function()
    local function inputs(layers, mask)
      return helper.state(copied({ layers = layers, mask = mask }), "graph").graph.entry.inputs
    end
    assert.same({ "in.hidden", "in.lengths", "in.blocked" }, inputs({ { mask = "blocked" }, { mask = "padding" } }))
    assert.same({ "in.hidden" }, inputs({ { mask = "none" }, { mask = "causal" } }, "padding"))
  end)

  it("turns by its own angles, and layers of one base share them", function()
    local state = helper.state(copied({ positions = "rope", rope_theta = 500,
      layers = { {}, { rope_theta = 2.5 }, { rope_dim = 0 }, { rope_theta = 2.5 }, { rope_theta = 500 } } }), "graph")
    local constants = {}
    for _, name in ipairs(state.graph.weights) do
      if state.graph.tensors[name].kind == "constant" then constants[#constants + 1] = name end
    end
    assert.same({ "positions.cos_8", "positions.sin_8", "positions.cos_8_2", "positions.sin_8_2" }, constants)
  end)
end)

describe("layers that do not differ", function()
  it("are the model with their number, byte for byte", function()
    local plain, listed = helper.state(copied({ mask = "causal" })), helper.state(copied({ mask = "causal",
      layers = { {}, { mask = "causal", d_ff = 64, norm = "post" } } }))
    assert.equal(#plain.files, #listed.files)
    for i, file in ipairs(plain.files) do helper.same_text(file.text, listed.files[i].text, file.name) end
  end)
end)
