-- fuzz_spec.lua: the fuzzer's own parts: that draws repeat, are valid and leave no key out,
-- that a printed description reads back as the same, and that shrinking finds the smallest.
local helper = require("tests.spec.helper")
package.path = helper.root .. "/tests/fuzz/?.lua;" .. package.path
local activations = require("data.activations")
local describe_pass = require("passes.describe")
local draw = require("draw")
local extremes = require("extremes")
local keys = require("data.keys")
local shrink = require("shrink")
local stages = require("data.stages")
local targets = require("data.targets")
local text = require("text")
local words = require("common.words")

-- Draws of every kind, with sequences of any length, and of other kinds.
local MANY, ANY, OTHERS = 2500, helper.is_long and 300 or 100, helper.is_long and 400 or 130

local function read_back(description)
  local state = { file = helper.file(text.description(description)), overrides = {} }
  describe_pass.run(state)
  return state.description
end

describe("a draw", function()
  it("is the same for the same seed and number, and another one for others", function()
    local first = text.description(draw.description(7, 3))
    assert.equal(first, text.description(draw.description(7, 3)))
    assert.not_equal(first, text.description(draw.description(7, 4)))
    assert.not_equal(first, text.description(draw.description(8, 3)))
  end)

  it("does not depend on the machine", function()
    math.randomseed(1, 1)
    assert.equal(3242727962112846184, math.random(0))
  end)

  it("is valid", function()
    for number = 1, MANY, helper.is_long and 1 or 4 do
      local description = draw.description(1, number)
      local lines = helper.refusals(description)
      assert.equal(0, #lines, text.description(description) .. table.concat(lines, "\n"))
    end
  end)

  it("of any length is valid", function()
    local count = 0
    for number = 1, ANY do
      local description = draw.description(3, number, { any = true })
      if type(description.seq) == "table" and description.seq.any then count = count + 1 end
      local lines = helper.refusals(description)
      assert.equal(0, #lines, text.description(description) .. table.concat(lines, "\n"))
    end
    assert.is_true(count > ANY // 2, count)
  end)

  it("with an encoder beside a context is valid", function()
    local count = 0
    for number = 1, OTHERS do
      local description = draw.description(6, number, { encoder = true })
      if description.context and description.memory then count = count + 1 end
      local lines = helper.refusals(description)
      assert.equal(0, #lines, text.description(description) .. table.concat(lines, "\n"))
    end
    assert.is_true(count > OTHERS // 10, count)
  end)

  it("with a context is valid", function()
    local count = 0
    for number = 1, OTHERS do
      local description = draw.description(4, number, { context = true })
      if description.context then count = count + 1 end
      local lines = helper.refusals(description)
      assert.equal(0, #lines, text.description(description) .. table.concat(lines, "\n"))
    end
    assert.is_true(count > 3 * OTHERS // 20, count)
  end)

  it("with exposed tensors is divided in ways that give them", function()
    local count = 0
    for number = 1, helper.is_long and 200 or 100 do
      local description = draw.description(1, number, { ranks = true, exposed = true })
      if description.ranks or description.stages then
        count = count + 1
        local fault = helper.fault(helper.state, description, "ranks", { exposed = true })
        assert.is_nil(fault and table.concat(fault.lines, "\n"), text.description(description))
      end
    end
    assert.is_true(count > 5, count)
  end)

  it("leaves out no key, stage, mask, word or tile parameter", function()
    local seen = {}
    local function see(kind, value) seen[kind .. " " .. tostring(value)] = true end
    for number = 1, MANY do
      local d = draw.description(1, number)
      for key, value in pairs(d) do
        see("key", key)
        if type(value) == "string" then see(key, value) end
        if key == "seq" and type(value) == "table" then see("seq", value.any and "any" or "list") end
      end
      for _, layer in ipairs(type(d.layers) == "table" and d.layers or {}) do
        for key in pairs(layer) do see("layer", key) end
      end
      for _, stage in ipairs(d.output or {}) do see("output", stage.stage) end
      if d.input then see("input", d.input.stage) end
      if d.memory then see("memory", d.memory.stage or d.memory.mask) end
      for key in pairs(d.memory and d.memory.stage and d.memory or {}) do see("encoder", key) end
      for key, word in pairs(type(d.mask) == "table" and d.mask or {}) do
        see("masks", type(key) == "string" and key or word)
      end
      if type(d.attention_output) == "table" then see("attention_output", d.attention_output.kind) end
      if type(d.head_mask) == "table" then see("head_mask", "constant") end
      for name in pairs(d.plan or {}) do see("plan", name) end
      for part in pairs(type(d.precision) == "table" and d.precision or {}) do see("precision", part) end
    end
    local by_intent = words.set { "key max_lines", -- bounds no model
      "target avx512", "target aarch64", -- what host means, here and elsewhere
      "target amx", "target avx512bf16", "target avx512vnni", "target avxvnni",
      "key generation", -- of answers
      "opens packed", -- of libraries
      "key tokenizer", "key prompt", "key prompts", "key dimensions", "key labels", "key label_function",
      "key ctc", "key speech", "key late_interaction", "key spans", "key similarity",
      "key query_weights",
      "key adapter", -- a file next to the weights
      "label_function softmax", "label_function sigmoid", "label_function none",
      "similarity cosine", "similarity dot", "similarity euclidean", "similarity manhattan",
      "key pictures", "key texts", -- compared with transformers; of text and pictures, which changes no number
      "key draft" } -- of a program's second model
    local seldom = words.set { "residual", "weighting", "fully_masked", "window", "prefix", "mask_value" } -- of layers
    local function expect(name) assert.is_true(by_intent[name] or seen[name], name .. " is never drawn") end
    for _, field in ipairs(keys.list) do
      expect("key " .. field.key)
      if field.layer and not seldom[field.key] then expect("layer " .. field.key) end
      for _, word in ipairs(field.words or {}) do expect(field.key .. " " .. word) end
    end
    for _, activation in ipairs(words.sorted_keys(activations.of_descriptions)) do
      expect("activation " .. activation)
    end
    for _, name in ipairs(words.sorted_keys(stages.constructors)) do
      local place = stages.constructors[name].place
      for _, each in ipairs(place == "both" and { "input", "output" } or { place }) do expect(each .. " " .. name) end
    end
    for _, name in ipairs(words.sorted_keys(targets.parameters)) do expect("plan " .. name) end
    for _, word in ipairs { "causal", "window", "prefix", "padding", "key_padding", "key_bias", "additive",
      "additive_heads", "blocked", "blocked_heads" } do
      expect("mask " .. word)
      expect("masks " .. word)
    end
    for _, word in ipairs { "mask none", "memory none", "memory padding", "memory key_padding", "head_mask none",
      "head_mask input", "head_mask constant", "attention_output none", "attention_output heads",
      "attention_output mean", "seq list", "seq any",
      "precision bf16", "precision int8", "precision 1", "precision input",
      "precision qkv", "precision out", "precision ff", "precision output", "precision attention",
      "precision encoder attention", "precision layer 0" } do expect(word) end
    for _, key in ipairs { "positions", "kv_heads", "head_mask", "attention_output", "mask_value", "layers", "heads",
      "norm_kind", "gated", "bias_kv", "zero_attn" } do expect("encoder " .. key) end
  end)
end)

describe("the bounds by themselves", function()
  it("are valid, and each is there once", function()
    local seen = {}
    for _, bound in ipairs(extremes.list()) do
      assert.same({}, helper.refusals(bound.description), bound.what)
      assert.is_nil(seen[bound.what], bound.what)
      seen[bound.what] = true
    end
  end)
end)

describe("a printed description", function()
  teardown(helper.clean)

  it("reads back as the same", function()
    for number = 1, helper.is_long and 100 or 40 do
      local description = draw.description(2, number)
      assert.same(description, read_back(description))
    end
  end)
end)

describe("shrinking", function()
  it("finds the smallest that fails, within its attempts", function()
    local asked = 0
    local found = shrink.run({
      name = "x", seq = 41, d_model = 60, heads = 3, layers = 3, batch = 4, mask = { "causal", "padding" }, d_ff = 7,
      plan = { panel = 32, call_rows = 16 },
      output = { { stage = "norm" }, { stage = "linear", to = 9, bias = false } },
    }, function(d)
      asked = asked + 1
      local linear = false
      for _, stage in ipairs(d.output or {}) do linear = linear or stage.stage == "linear" end
      return d.seq >= 5 and linear and d.plan ~= nil and d.plan.call_rows == 16
    end, 200)
    assert.same({ name = "x", seq = 5, d_model = 1, heads = 1, layers = 0, plan = { call_rows = 16 },
      output = { { stage = "linear", to = 1 } } }, found)
    assert.is_true(asked <= 200)
  end)

  it("goes into lists and nested tables, and keeps what goes by heads and layers in step", function()
    local found = shrink.run({
      name = "x", seq = 9, d_model = 24, heads = 4, layers = 2, kv_heads = 2, input = { stage = "tokens", vocab = 7 },
      head_mask = { { 1, 0, 0.5, 1 }, { 1, 1, 1, 0 } }, attention_output = { kind = "mean", layers = { 0, 1 } },
      memory = { stage = "encoder", seq = 11, layers = 2, mask = { "causal", "key_padding", prefix = 4 } },
    }, function(d)
      local masks = {}
      for _, word in ipairs(type(d.memory) == "table" and type(d.memory.mask) == "table" and d.memory.mask or {}) do
        masks[word] = true
      end
      return masks.key_padding and type(d.head_mask) == "table" and #d.head_mask == d.layers and d.layers > 0
        and #d.head_mask[1] == d.heads
    end, 400)
    assert.same({ name = "x", seq = 1, d_model = 1, heads = 1, layers = 1, head_mask = { { 1 } },
      memory = { stage = "encoder", seq = 1, mask = { "key_padding" } } }, found)
  end)

  it("gives back what it got where nothing simpler fails", function()
    local description = { name = "x", seq = 4, d_model = 4, heads = 2, layers = 1, d_ff = 3 }
    assert.same(description, shrink.run(description, function() return false end, 50))
  end)
end)

describe("what was found by drawing", function()
  it("a padding that does not divide 16 is refused: rows have no room for it", function()
    for pad = 1, 16 do
      local lines = helper.refusals(helper.description { plan = { pad = pad } })
      assert.same(16 % pad == 0 and {} or { ("plan.pad: %d, but a divisor of 16 is allowed"):format(pad) }, lines)
    end
  end)
end)
