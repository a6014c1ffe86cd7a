-- alike_spec: tables with the same contents become one table.
require("tests.spec.helper")
local alike = require("common.alike")

describe("what is alike", function()
  it("is one table, by the names that count", function()
    local first_of = alike.first_of { "rows", "cols" }
    local one = first_of { rows = 2, cols = 3 }
    assert.equal(one, first_of { rows = 2, cols = 3, more = 4 })
    assert.not_equal(one, first_of { rows = 3, cols = 2 })
    local without = first_of { rows = 2 }
    assert.equal(without, first_of { rows = 2 })
    assert.not_equal(without, one)
  end)

  it("is the same as text: 1 is not 1.0, 0.0 not -0.0, a number not a string", function()
    local first_of = alike.first_of { "value" }
    local seen = {}
    for _, value in ipairs { 1, 1.0, "1", 0.0, -0.0, math.huge, -math.huge, "0x1p+0 " } do
      local first = first_of { value = value }
      assert.is_nil(seen[first])
      seen[first] = true
      assert.equal(first, first_of { value = value })
    end
  end)

  it("is a list of the same members and length", function()
    local first_of = alike.first_of()
    local member = {}
    local one = first_of { 1, member }
    assert.equal(one, first_of { 1, member })
    assert.not_equal(one, first_of { 1, {} })
    assert.not_equal(one, first_of { 1 })
    assert.equal(first_of { 1 }, first_of { 1 })
    assert.not_equal(first_of {}, first_of { 1 })
  end)

  it("is a list of the same members, and of tables with the same plain members", function()
    local first_of = alike.first_list()
    local one = first_of { 1, "x", { row = 4 }, false }
    assert.equal(one, first_of { 1, "x", { row = 4, more = {} }, false })
    for _, other in ipairs { { 1, "x", { row = 5 }, false }, { 1, "x", {}, false }, { 1, "x", { row = 4 } },
      { 1, "y", { row = 4 }, false }, { 2, "x", { row = 4 }, false }, { 1, "x", false, false } } do
      assert.not_equal(one, first_of(other))
      assert.equal(other, first_of(other))
    end
  end)
end)
