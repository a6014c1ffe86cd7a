-- same_numbers_spec: which weights are one tensor, by where a checkpoint has them, their types and factors.
local helper = require("tests.spec.helper") -- luacheck: ignore 211 (sets the path)
local same_numbers = require("passes.common.same_numbers")
local words = require("common.words")

-- Returns a weight that is read from the first of some names.
local function weight(names, more)
  return words.merged({ kind = "weight", type = "f32", shape = { 4, 2 },
    from = { stored = { { names = names, shape = { 4, 2 } } }, views = { { stored = 1, first = 0 } } } }, more)
end

describe("weights with the same numbers", function()
  local one, other = { "head", "shared" }, { "shared", "table" }
  local known = { checkpoint = { shared = {} } }

  it("have the same names, or the same one in a checkpoint that is known", function()
    assert.is_true(same_numbers.are_one({}, weight(one), weight(one)))
    assert.is_false(same_numbers.are_one({}, weight(one), weight(other)))
    assert.is_true(same_numbers.are_one(known, weight(one), weight(other)))
    local shared, head = { path = "f", at = 0, dtype = "F32" }, { path = "f", at = 32, dtype = "F16" }
    assert.is_false(same_numbers.are_one({ checkpoint = { shared = shared, head = head } }, weight(one), weight(other)))
  end)

  it("have the same shape, place and order", function()
    local moved = weight(one)
    moved.from.views[1].first = 2
    assert.is_false(same_numbers.are_one({}, weight(one), moved))
    for _, more in ipairs { { shape = { 2, 4 } }, { in_groups = true }, { row_order = {} }, { order_like = {} },
      { experts = 2 }, { kind = "constant" } } do
      assert.is_false(same_numbers.are_one({}, weight(one), weight(one, more)))
      assert.is_false(same_numbers.are_one({}, weight(one, more), weight(one)))
    end
  end)

  it("are the same bytes if types and factors are the same", function()
    local factors = { powers = { 1, 2 }, sign = 1, checksum = 7 }
    assert.is_true(same_numbers.when_packed(known, weight(one), weight(other)))
    for _, more in ipairs { { type = "i8" }, { factors = factors }, { is_zero = true } } do
      assert.is_false(same_numbers.when_packed(known, weight(one), weight(one, more)))
      assert.is_false(same_numbers.when_packed(known, weight(one, more), weight(one)))
    end
    assert.is_true(same_numbers.when_packed({}, weight(one, { factors = factors }), weight(one, { factors = factors })))
  end)
end)
