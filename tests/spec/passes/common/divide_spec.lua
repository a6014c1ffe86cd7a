-- divide_spec: panels, K blocks, blocks of rows and leading dimensions.
require("tests.spec.helper")
local divide = require("passes.common.divide")
local types = require("data.types")

describe("panels", function()
  local function widths(outputs, panel) return divide.panels(outputs, panel).widths end

  it("of 64: a remainder of up to 16 is given 16 of the last full panel's outputs", function()
    assert.same({ 64 }, widths(64, 64))
    assert.same({ 48, 17 }, widths(65, 64))
    assert.same({ 48, 32 }, widths(80, 64))
    assert.same({ 64, 17 }, widths(81, 64))
    assert.same({ 17 }, widths(17, 64))
    assert.same({ 1 }, widths(1, 64))
    assert.same({ 64, 48, 18 }, widths(130, 64))
    assert.same({ 64, 64, 64, 64, 64, 64, 64, 64, 64, 24 }, widths(600, 64))
    assert.same({ 64, 63 }, widths(127, 64))
  end)

  it("of 32 or less keep a small remainder", function()
    assert.same({ 32, 1 }, widths(33, 32))
    assert.same({ 16, 16, 8 }, widths(40, 16))
  end)

  it("cover all outputs, with at most two tails", function()
    for _, panel in ipairs { 16, 32, 48, 64, 128 } do
      for outputs = 1, 400 do
        local p = divide.panels(outputs, panel)
        local sum = 0
        for _, width in ipairs(p.widths) do
          sum = sum + width
          assert.is_true(width >= 1 and width <= panel)
        end
        assert.equal(outputs, sum)
        assert.is_true(#p.tails <= 2)
        assert.equal(p.count + #p.tails, #p.widths)
        for i = 1, #p.widths - #p.tails do assert.equal(panel, p.widths[i]) end
      end
    end
  end)
end)

describe("token blocks", function()
  it("are as few as the limit allows, of equal sizes as far as that goes", function()
    assert.same({ { first = 0, count = 128 } }, divide.blocks(128, 128))
    assert.same({ { first = 0, count = 65 }, { first = 65, count = 64 } }, divide.blocks(129, 128))
    assert.same({ { first = 0, count = 4 }, { first = 4, count = 3 }, { first = 7, count = 3 } }, divide.blocks(10, 4))
    for n = 1, 300 do
      local next_row = 0
      local list = divide.blocks(n, 37)
      assert.equal(math.ceil(n / 37), #list)
      for _, block in ipairs(list) do
        assert.equal(next_row, block.first)
        assert.is_true(block.count >= n // #list and block.count <= 37)
        next_row = next_row + block.count
      end
      assert.equal(n, next_row)
    end
  end)

  it("have whole pairs, but the last, where rows are made in pairs", function()
    assert.same({ { first = 0, count = 6 }, { first = 6, count = 5 } }, divide.blocks(11, 9, 2))
    assert.same({ { first = 0, count = 4 }, { first = 4, count = 4 }, { first = 8, count = 2 } },
      divide.blocks(10, 5, 2))
    assert.same({ { first = 0, count = 1 } }, divide.blocks(1, 8, 2))
  end)
end)

describe("a leading dimension", function()
  it("is whole cache lines, an odd number of them from 256 floats on", function()
    for width, ld in pairs { [1] = 16, [16] = 16, [17] = 32, [240] = 240, [241] = 272, [256] = 272, [257] = 272,
      [272] = 272,
      [768] = 784, [3072] = 3088 } do
      assert.equal(ld, divide.leading_dimension(width, { odd_lines = 256 }, "f32"), width)
      assert.equal((width + 15) // 16 * 16, divide.leading_dimension(width, { odd_lines = 4096 }, "f32"), width)
    end
  end)

  it("is whole scale blocks, also where one has several cache lines", function()
    for _, type in ipairs { types.coarse, types.fine } do
      assert.same({ 64, 608 }, { divide.leading_dimension(33, { odd_lines = 256 }, type),
        divide.leading_dimension(576, { odd_lines = 256 }, type) })
    end
  end)
end)

describe("row blocks", function()
  it("are of one size, but for the last", function()
    assert.same({ { first = 5, count = 4 }, { first = 9, count = 4 }, { first = 13, count = 1 } },
      divide.row_blocks(5, 9, 4))
    assert.same({ { first = 0, count = 3 } }, divide.row_blocks(0, 3, 16))
  end)
end)

describe("equal shares", function()
  it("keep workers busy if these work nine tenths of the time", function()
    for _, each in ipairs { { 4, 4, true }, { 9, 10, true }, { 8, 10, false }, { 6, 4, false }, { 11, 4, true },
      { 19, 7, true }, { 13, 8, false }, { 1, 2, false } } do
      assert.equal(each[3], divide.keeps_busy(each[1], each[2]), ("%d, %d"):format(each[1], each[2]))
    end
  end)
end)
