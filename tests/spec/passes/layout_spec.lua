-- layout_spec: the packed format of each weight and its place in the packed block, which all
-- entries of a build share.
local helper = require("tests.spec.helper")
local layout = require("passes.layout")
local packed = require("passes.common.packed")
local regions = require("passes.common.regions")
local tuning = require("passes.common.tuning")
local words = require("common.words")

describe("packed formats", function()
  it("are one for all entries that read a weight: the largest entry's", function()
    local rule = "attn2c tuning 5 avx512 A-CPU\n%s: kernels c panel %d token_block 4 "
      .. "call_rows 3 fetch 1 stream 0; 2.0 GFLOP/s, rule 1.0\n"
    local set = tuning.parse(rule:format("64x16 n 4 +bias_gelu", 16)
      .. rule:format("64x16 n 8 +bias_gelu", 32):match("\n(.*)$"), "x.tune")
    local long = helper.state(helper.description({ seq = { 4, 8 } }), "plan", { tuning = { set = set } })
    local short = long.entries[1]
    assert.equal("forward_8", short.weights.chosen_by["l0.ff.up.weight"])
    assert.same({ 32, 32 }, short.weights.layouts["l0.ff.up.weight"].widths)
    for _, name in ipairs(short.graph.weights) do
      if long.weights.layouts[name] then assert.equal(long.weights.layouts[name], short.weights.layouts[name], name) end
    end
    for region in regions(short.plan.segments) do
      for _, fusion in ipairs(region.fusions) do
        local weight = fusion.leading.operands.weight
        if fusion.panels then
          assert.equal(long.weights.layouts[weight.name], fusion.panels)
          assert.equal(fusion.panels.panel, fusion.parameters.panel)
        end
      end
    end
  end)

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

  it("are in the dump, with their places and the entry that has chosen them", function()
    local state = helper.tiny({ seq = { 4, 8 }, precision = "bf16" }, "layout")
    local text = layout.dump(state)
    assert.matches("^packed weights: %d+ bytes\nentry forward_4\n", text)
    assert.matches("\n +%d+ l0.ff.up.weight %[64, 16%] of bf16 in panels of [%d ]+, chosen by forward_8\n", text)
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

  it("lays a weight out once for all lengths, of a position table the first rows, then what differs", function()
    for _, more in ipairs { {}, { positions = "learned" }, { positions = "sinusoidal" }, { positions = "rope" } } do
      local alone = helper.tiny(more, "layout")
      more.seq = { 4, 8 }
      local long = helper.tiny(more, "layout")
      local short = long.entries[1]
      assert.same({ alone.weights.offsets, alone.weights.layouts, alone.weights.bytes },
        { long.weights.offsets, long.weights.layouts, long.weights.bytes })
      assert.equal(long.weights.bytes, short.weights.bytes)
      for _, name in ipairs(short.graph.weights) do
        local theirs = long.weights.offsets[(name:gsub("_4$", "_8"))] -- tables of angles are named by their rows
        assert.equal(theirs, short.weights.offsets[name], name)
      end
    end
    local long = helper.tiny({ positions = "alibi", seq = { 4, 8 } }, "layout")
    local alibi = "l0.attn.alibi"
    for _, name in ipairs(long.graph.weights) do if name:find("alibi") then alibi = name end end
    assert.not_equal(long.weights.offsets[alibi], long.entries[1].weights.offsets[alibi])
    local alone = helper.tiny({ positions = "alibi", seq = 8 }, "layout")
    assert.is_true(long.weights.bytes > alone.weights.bytes)
  end)

  it("keeps tables of an encoder and of the model apart, which are alike but for their rows", function()
    local long = helper.tiny({ positions = "rope", seq = { 4, 8 }, memory = { stage = "encoder", seq = 6 } }, "layout")
    local short = long.entries[1]
    assert.equal(long.weights.offsets["positions.cos_8"], short.weights.offsets["positions.cos_4"])
    assert.equal(long.weights.offsets["encoder.positions.cos_6"], short.weights.offsets["encoder.positions.cos_6"])
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
