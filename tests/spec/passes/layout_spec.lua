-- layout_spec: the packed format of each weight and its place in the packed block, which all
-- entries of a build share.
local encoded = require("tests.spec.encoded")
local helper = require("tests.spec.helper")
local checks = require("passes.checks")
local layout = require("passes.layout")
local packed = require("passes.common.packed")
local words = require("common.words")

describe("packed formats", function()
  it("are rows where no product reads a weight, and panels for tables of an attention", function()
    local state = helper.tiny({ positions = "relative_key" }, "layout")
    local formats = {}
    for name, of in pairs(state.weights.layouts) do formats[name] = of.format end
    assert.equal("rows", formats["l0.norm1.weight"])
    assert.equal("panels", formats["l0.attn.q.weight"])
    local tables = 0
    for name, of in pairs(state.weights.layouts) do
      if name:find("distance") then
        tables = tables + 1
        assert.equal(64, of.panel)
      end
    end
    assert.equal(1, tables)
  end)

  it("hold the rows of one expert, even if another weight has the same number of rows", function()
    local state = helper.state(helper.description { plan = { panel = 16 }, layers = { { d_ff = 64 },
      { experts = { count = 4, d_ff = 20, used = 1 } } } }, "layout")
    local dense, experts = state.weights.layouts["l0.ff.up.weight"], state.weights.layouts["l1.ff.experts.down.weight"]
    assert.same(dense.widths, experts.widths)
    assert.equal(dense, dense.each)
    assert.equal(#experts.widths // 4, #experts.each.widths)
  end)

  it("are in the dump, with their places", function()
    local state = helper.tiny({ precision = "bf16" }, "layout")
    local text = layout.dump(state)
    assert.matches("^packed weights: %d+ bytes\n", text)
    assert.matches("\n +%d+ l0.ff.up.weight %[64, 16%] of bf16 in panels of [%d ]+\n", text)
    assert.matches("\n +%d+ l0.norm1.weight %[16%]\n", text)
  end)
end)

describe("places of weights", function()
  it("lays weights out one after the other, panels padded to whole lines", function()
    assert.equal(4 * 5 * 16, packed.bytes({ shape = { 7, 5 } },
      { format = "panels", type = "f32", widths = { 7 } }))
    assert.equal(4 * 5 * (48 + 32), packed.bytes({ shape = { 65, 5 } },
      { format = "panels", type = "f32", widths = { 48, 17 } }))
    assert.equal(140, packed.bytes({ shape = { 7, 5 } }, { format = "rows", type = "f32" }))
    assert.equal(28, packed.bytes({ shape = { 7 } }, { format = "rows", type = "f32" }))
    -- Groups of two inputs, of four with a row before them.
    assert.equal(4 * 3 * 16, packed.bytes({ shape = { 7, 5 } },
      { format = "panels", type = "bf16", widths = { 7 } }))
    assert.equal(4 * (2 + 2) * 16, packed.bytes({ shape = { 7, 5 } },
      { format = "panels", type = "i8", widths = { 7 } }))
    assert.equal(7 * 8, packed.bytes({ shape = { 7, 5 } }, { format = "rows", type = "i8" }))
    assert.equal(7 * 12, packed.bytes({ shape = { 7, 5 } }, { format = "rows", type = "bf16" }))
    local state = helper.tiny({ d_model = 10, d_ff = 7, heads = 1 }, "layout")
    local offset = 0
    for _, name in ipairs(state.graph.weights) do
      assert.equal(offset, state.weights.offsets[name])
      offset = offset + words.round_up(packed.bytes(state.graph.tensors[name], state.weights.layouts[name]), 64)
    end
    assert.equal(offset, state.weights.bytes)
  end)

  it("has one place for what an encoder and a decoder read from one place of a checkpoint", function()
    local shared = { ["encoder.input.tokens.weight"] = "shared.weight", ["input.tokens.weight"] = "shared.weight" }
    local function laid_out(names)
      return encoded.states({ input = { stage = "tokens", vocab = 9 } }, { names = names }, "layout")
    end
    local encode, decode = laid_out(shared)
    assert.equal(encode.weights.offsets["encoder.input.tokens.weight"], decode.weights.offsets["input.tokens.weight"])
    local apart_encode, apart = laid_out()
    assert.not_equal(apart_encode.weights.offsets["encoder.input.tokens.weight"],
      apart.weights.offsets["input.tokens.weight"])
    assert.equal(9 * 16 * 4, apart.weights.bytes - decode.weights.bytes)
    decode.graph.tensors["input.tokens.weight"].from = { stored = {} }
    assert.matches("input.tokens.weight", helper.defect(checks.layout, decode))
  end)

  it("has one place for a table of tokens and the vocabulary that is tied to it, if their types are one", function()
    local function laid_out(keys, is_tied)
      local list = { input = { stage = "tokens", vocab = 51 }, output = { { stage = "vocabulary", tied = is_tied } } }
      return helper.tiny(words.merged(list, keys), "layout")
    end
    local tokens, vocabulary = "input.tokens.weight", "output.1.vocabulary.weight"
    for _, keys in ipairs { {}, { precision = "bf16" }, { precision = "int8" }, { weights = "int4" },
      { weights = { "none", output = "int6k", embedding = "int6k" } } } do
      local own, apart = laid_out(keys).weights, laid_out(keys, false).weights
      assert.equal(own.offsets[vocabulary], own.offsets[tokens])
      assert.equal(own.layouts[vocabulary], own.layouts[tokens])
      assert.equal("panels", own.layouts[tokens].format)
      assert.equal("rows", apart.layouts[tokens].format)
      local saved = packed.bytes({ shape = { 51, 16 } }, apart.layouts[tokens])
      if keys.precision == "int8" then
        assert.equal(own.offsets[vocabulary .. ".scales"], own.offsets[tokens .. ".scales"])
        saved = words.round_up(saved, 64) + words.round_up(4 * 51, 64)
      end
      assert.equal(words.round_up(saved, 64), apart.bytes - own.bytes)
    end
    for _, keys in ipairs { { precision = { "int8", output = "f32" } }, { precision = { "bf16", embedding = "f32" } },
      { weights = { "int4", embedding = "int8" } } } do
      local own = laid_out(keys).weights
      assert.not_equal(own.offsets[vocabulary], own.offsets[tokens])
      assert.equal("rows", own.layouts[tokens].format)
    end
    assert.matches("\n +%d+ input.tokens.weight %[51, 16%] in panels of [%d ]+, at the place of output.1.voc",
      layout.dump(laid_out {}))
    local state = laid_out {}
    state.graph.tensors[tokens].from = { stored = {} }
    assert.matches("output.1.vocabulary.weight of forward lies over input.tokens.weight",
      helper.defect(checks.layout, state))
  end)

  it("has one place for three uses of a table, two of them in another entry", function()
    local shared = { ["encoder.input.tokens.weight"] = "shared.weight", ["input.tokens.weight"] = "shared.weight" }
    local encode, decode = encoded.states({ input = { stage = "tokens", vocab = 9 } },
      { names = shared, precision = "int8", output = { { stage = "vocabulary" } } }, "layout")
    local place = decode.weights.offsets["output.1.vocabulary.weight"]
    assert.equal(place, decode.weights.offsets["input.tokens.weight"])
    assert.equal(place, encode.weights.offsets["encoder.input.tokens.weight"])
    assert.equal("panels", encode.weights.layouts["encoder.input.tokens.weight"].format)
    assert.equal("forward", encode.weights.chosen_by["encoder.input.tokens.weight"])
  end)

  it("are those that the largest entry decides, whatever a smaller one would", function()
    local function laid_out(panel) return helper.tiny({ plan = { panel = panel } }, "layout") end
    local long, short = laid_out(64), laid_out(16)
    local before = short.weights.layouts["l0.ff.up.weight"]
    layout.run(setmetatable({ entries = { short, long }, primary = long }, { __index = long }))
    assert.same(long.weights.layouts, short.weights.layouts)
    assert.same(long.weights.offsets, short.weights.offsets)
    assert.not_same(before, short.weights.layouts["l0.ff.up.weight"])
  end)

  it("lays a weight out twice if entries multiply it with other powers", function()
    local spec = helper.tiny({}, "validate").spec
    -- An entry with one weight of 1,024 bytes.
    local function entry(name, powers)
      return { name = name, spec = spec, parameters = { common = { group_tokens = 8 } },
        graph = { entry = { ops = {} }, weights = { "w" }, tensors = { w = { kind = "weight", type = "f32",
          shape = { 16, 16 }, factors = powers and { powers = powers, sign = 1, checksum = 7 } } } } }
    end
    local function offset(first, second)
      local short, long = entry("short", second), entry("long", first)
      layout.run { spec = spec, entries = { short, long }, primary = long }
      return short.weights.offsets.w
    end
    assert.same({ 0, 0 }, { offset(), offset({ 1, 2 }, { 1, 2 }) })
    assert.same({ 1024, 1024 }, { offset({ 1, 2 }, { 1, 3 }), offset({ 1, 2 }) })
  end)
end)
