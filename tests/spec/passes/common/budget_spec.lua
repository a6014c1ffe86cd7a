-- count_spec: the number of steps that lowering makes, and the budget that ends it before a model
-- that is too large costs time and memory.
local helper = require("tests.spec.helper")

describe("the count", function()
  it("is of a tiny model worked out by hand", function()
    -- q, k, v: product and bias each, and the keys transposed: 7. Two heads of scores, softmax, context: 6.
    -- out: 2; norm1: 1; up: 2; down: 2; norm2: 1.
    assert.equal(21, helper.tiny({}, "lower").plan.lines)
    assert.equal(2 * 21, helper.tiny({ layers = 2 }, "lower").plan.lines)
    assert.equal(1, helper.tiny({ layers = 0 }, "lower").plan.lines) -- a copy
  end)

  it("refuses a model over its budget with about the steps that it would have, and takes one that just fits", function()
    local fault = helper.fault(helper.tiny, { max_lines = 41, layers = 4 }, "lower")
    assert.equal(2, fault.code)
    assert.equal(1, #fault.lines)
    local steps = fault.lines[1]:match("^tiny.lua: max_lines: the model unrolls to some ([%d,]+) steps, and the budget "
      .. "is 41; raise max_lines, or take fewer layers, a shorter seq or a smaller d_model$")
    steps = tonumber((steps:gsub(",", "")))
    assert.is_true(steps > 60 and steps < 120, steps) -- 84
    assert.is_nil(helper.fault(helper.tiny, { max_lines = 84, layers = 4 }, "lower"))
  end)

  it("ends soon where a model is far too large", function()
    local before = os.clock()
    assert.is_truthy(helper.fault(helper.tiny, { layers = 1000, seq = 4096, d_model = 8192, heads = 128, d_ff = 65536 },
      "lower"))
    assert.is_true(os.clock() - before < 20)
  end)
end)
