-- types_spec: elements and bytes of number types.
require("tests.spec.helper")
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
end)
