-- layers_spec: layers as a list of what differs from one to the next: which keys may, what each
-- layer's spec is, and what is wrong with it.
local helper = require("tests.spec.helper")
local keys = require("data.keys")

local function each(layers, more)
  local description = helper.description(more)
  description.layers = layers
  return helper.state(description, "validate").spec.each
end

local function refusals(layers, more)
  local description = helper.description(more)
  description.layers = layers
  return helper.refusals(description)
end

describe("layers", function()
  it("as a number are alike", function()
    assert.is_nil(each(3))
    assert.equal(3, helper.tiny({ layers = 3.0 }, "validate").spec.layers)
  end)

  it("as a list are as many as it has, each as the model where it says nothing", function()
    local list = each({ {}, { d_ff = 7, activation = "relu" }, { mask = { window = { 1, 2 } } } }, { mask = "causal" })
    assert.equal(3, #list)
    assert.same({ 64, 7, 64 }, { list[1].d_ff, list[2].d_ff, list[3].d_ff })
    assert.same({ "gelu", "relu", "gelu" }, { list[1].activation, list[2].activation, list[3].activation })
    assert.same({ causal = true, padding = false }, list[1].mask)
    assert.same({ causal = false, padding = false, window = { left = 1, right = 2 } }, list[3].mask)
    assert.equal(3, list[2].layers)
    assert.same({}, each({}))
  end)

  it("may have bounds of the model's mask", function()
    local list = each({ {}, { window = { 5, 5 } } }, { mask = "window", window = { 1, 1 } })
    assert.same({ left = 1, right = 1 }, list[1].mask.window)
    assert.same({ left = 5, right = 5 }, list[2].mask.window)
    assert.same({ causal = true, padding = false },
      each({ { mask = "causal" } }, { mask = "window", window = { 1, 1 } })[1].mask)
  end)

  it("with RMS norms have no bias there, and the others theirs", function()
    local list = each({ { norm_kind = "rms" }, {}, { bias = { ff = false } } })
    assert.same({ false, true, true }, { list[1].bias.norm, list[2].bias.norm, list[3].bias.norm })
    assert.is_false(list[3].bias.up or list[3].bias.down)
    assert.is_true(each({ { norm_kind = "layer" } }, { norm_kind = "rms" })[1].bias.norm)
  end)

  it("may differ in each key of a layer, and in no other", function()
    for _, field in ipairs(keys.list) do
      local line = refusals({ {}, { [field.key] = {} } })[1] or ""
      local start = "layers.2." .. field.key .. ": not a key of a layer"
      assert.equal(not field.layer, line:sub(1, #start) == start, field.key .. ": " .. line)
    end
  end)

  it("are refused all at once, each with its place", function()
    local allowed = "kv_heads, head_dim, d_ff, experts, gated, gate_limit, gate_sparsity, activation, norm, parallel, "
      .. "norm_kind, eps, short_conv, residual, dropout, drop_path, bias, qk_norm, values, keys_of, layer_scale, "
      .. "second_ff, residual_rank, qkv_limit, scale, softcap, weighting, sinks, fully_masked, mask, window, prefix, "
      .. "mask_value, rope_theta, rope_scaling or rope_dim"
    assert.same({
      "layers.1.d_ff: -1, but an integer from 0 to 65536 is allowed",
      "layers.2: 5, but a table of the keys that differ in this layer, such as {}, is allowed",
      "layers.3.heads: not a key of a layer; those are " .. allowed,
      "layers.4.hidden_act: not a key of a layer (did you mean activation?); those are " .. allowed,
      "layers.5.window: given, but mask does not say window",
      "layers.6.kv_heads: heads 2 is not divisible by kv_heads 3",
      'layers.7.fully_masked: nan goes with weighting = "softmax"; other weights of masked keys are 0',
      'layers.8.mask_value: goes with mask = "padding" or "key_padding"',
      "layers.9.mask: window without bounds; give window = { left, right }",
    }, refusals({ { d_ff = -1 }, 5, { heads = 1 }, { hidden_act = "x" }, { window = { 1, 1 } }, { kv_heads = 3 },
      { weighting = "none", fully_masked = "nan" }, { mask_value = -5 }, { mask = "window" } }))
  end)

  it("say what is wrong with the model once, and with a layer among the model's keys there", function()
    assert.same({ "kv_heads: heads 2 is not divisible by kv_heads 3" }, refusals({ {}, {} }, { kv_heads = 3 }))
    assert.same({ 'layers.2.fully_masked: nan goes with weighting = "softmax"; other weights of masked keys are 0' },
      refusals({ {}, { weighting = "relu" } }, { fully_masked = "nan" }))
    assert.same({ 'layers.1.mask: causal in all layers or in none goes with positions = "t5", '
      .. "whose table all layers share" },
      refusals({ { mask = "causal" }, {} }, { positions = { "sinusoidal", "t5" } }))
  end)

  it("are a number or a list", function()
    assert.same({ "layers: true, but an integer from 0 to 1000 or a list of tables, one a layer, is allowed" },
      refusals(true))
    assert.same({ 'layers: a list of layers has no key "mask"' }, refusals({ mask = "causal" }))
    local many = {}
    for i = 1, 1001 do many[i] = {} end
    assert.same({ "layers: 1001 layers, but at most 1000 are allowed" }, refusals(many))
  end)

  it("count for what pooling and padding need", function()
    local pool = { { stage = "pool", over = "mean" } }
    local wrong = "output.1: attention_mask and key_padding each say which rows it takes; give one of them, or "
      .. '"padding", whose lengths say it'
    assert.same({ wrong }, refusals({ { mask = "attention_mask" }, { mask = "key_padding" } }, { output = pool }))
    assert.same({}, refusals({ {}, { mask = "key_padding" } }, { output = pool }))
    assert.same({}, refusals({ { mask = "padding" }, { mask = { "key_padding", "attention_mask" } } },
      { output = pool }))
    pool[1].over = { "first", "max" }
    assert.same({ wrong }, refusals({ { mask = "attention_mask" }, { mask = "key_padding" } }, { output = pool }))
    pool[1].over = "first"
    assert.same({}, refusals({ { mask = "attention_mask" }, { mask = "key_padding" } }, { output = pool }))
    assert.same({}, refusals({ { mask = "padding" }, {} }, { mask_value = -100 }))
  end)

  it("of an encoder differ among themselves, not as the model's do", function()
    local memory = { stage = "encoder", input = { stage = "hidden" }, seq = 5 }
    local description = helper.description({ layers = { { d_ff = 3 }, {} }, memory = memory })
    local spec = helper.state(description, "validate").spec
    assert.equal(2, spec.memory.encoder.layers)
    assert.is_nil(spec.memory.encoder.each)
    memory.layers = { {}, {}, { d_ff = 9, nhead = 1 } }
    assert.matches("^memory.layers.3.nhead: not a key of a layer ", helper.refusals(description)[1])
    memory.layers[3].nhead = nil
    assert.equal(9, helper.state(description, "validate").spec.memory.encoder.each[3].d_ff)
  end)
end)
