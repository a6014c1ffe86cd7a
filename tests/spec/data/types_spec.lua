-- types_spec: elements and bytes of number types.
local helper = require("tests.spec.helper")
local precision = require("data.precision")
local types = require("data.types")

describe("a number type", function()
  it("has so many bytes an element", function()
    assert.same({ 12, 12, 6, 3 }, { types.bytes(3, "f32"), types.bytes(3, "i32"), types.bytes(3, "bf16"),
      types.bytes(3, "i8") })
    for type in pairs(types.all) do assert.equal(7, types.elements(types.bytes(7, type), type)) end
  end)

  it("has whole elements only", function()
    assert.has_error(function() types.elements(6, "f32") end)
    assert.equal(3, types.elements(6, "bf16"))
  end)

  it("fills cache lines", function()
    assert.same({ 16, 32, 64 }, { types.per_line("f32"), types.per_line("bf16"), types.per_line("i8") })
    assert.same({ 0, 16, 16, 32 }, { types.whole_lines(0, "f32"), types.whole_lines(1, "f32"),
      types.whole_lines(16, "f32"), types.whole_lines(17, "f32") })
    assert.equal(64, types.whole_lines(33, "bf16"))
    assert.same({ 0, 64, 128 }, { types.line_bytes(0), types.line_bytes(64), types.line_bytes(65) })
  end)

  it("has panels of groups of 4 bytes, and of int8 two rows before them", function()
    assert.same({ 1, 2, 4 }, { types.group("f32"), types.group("bf16"), types.group("i8") })
    assert.equal(5 * 48 * 4, types.panel_bytes(5, 48, "f32"))
    assert.equal(3 * 48 * 4, types.panel_bytes(5, 48, "bf16"))
    assert.equal((2 + 2) * 48 * 4, types.panel_bytes(5, 48, "i8"))
  end)

  it("has products, one object for each, with rows of its own or of floats on its grid", function()
    for type, c in pairs { f32 = "f32", bf16 = "f32", i8 = "i32" } do
      assert.same({ word = types.all[type].word, a = type, b = type, sum = c, c = c }, types.product(type))
      assert.equal(types.product(type), types.product(type, type))
    end
    assert.same({ word = "bf16", a = "bf16", b = "f32", sum = "f32", c = "f32" }, types.product("bf16", "f32"))
    assert.equal(types.product("bf16", "f32"), types.product("bf16", "f32"))
    assert.equal(types.product("i8"), types.product("i8", "f32"))
    assert.equal("f32, bf16 or int8", types.words())
    assert.equal("int8", types.words("quantise"))
  end)

  it("that is new needs a record, instructions and strips, and is named by no pass", function()
    for _, case in ipairs { { "i8", "avx512vnni" }, { "i8", "generic" }, { "bf16", "avx512bf16" },
      { "bf16", "amx" } } do
      local name, target = table.unpack(case)
      local word = types.all[name].word
      local function made(of)
        local code, text = helper.run(("lua5.4 tests/spec/data/twin_type.lua %s %s %s"):format(name, of, target))
        assert.equal(0, code, text)
        return (text:gsub(word, name):gsub("twin", name):gsub("TWIN", name:upper()))
      end
      local twin = made("twin")
      assert.is_true(#twin > 100000)
      helper.same_text(made(word), twin, name .. " for " .. target)
    end
  end)

  it("takes factors if rows are quantised for its products, not if only tables have it", function()
    local function takes(all, by_part) return precision.takes_factors { all = all, by_part = by_part or {} } end
    assert.same({ true, false, false }, { takes("int8"), takes("bf16"), takes("f32") })
    assert.is_true(takes("f32", { ff = "int8" }))
    assert.is_false(takes("f32", { embedding = "int8" }))
  end)
end)
