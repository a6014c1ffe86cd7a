-- count_spec: the number of steps that is counted from the plan is the number that lowering
-- makes, and the budget refuses before anything is made.
local helper = require("tests.spec.helper")

describe("the count", function()
  it("is of a tiny model worked out by hand", function()
    -- q, k, v: product and bias each, and the keys turned: 7. Two heads of scores, softmax, context: 6.
    -- out: 2; norm1: 1; up: 2; down: 2; norm2: 1.
    assert.equal(21, helper.tiny({}, "plan").plan.entries[1].lines)
    assert.equal(2 * 21, helper.tiny({ layers = 2 }, "plan").plan.entries[1].lines)
    assert.equal(1, helper.tiny({ layers = 0 }, "plan").plan.entries[1].lines) -- a copy
  end)

  it("is what lowering makes, for a list of models", function()
    for _, more in ipairs { { mask = "causal", seq = 100 }, { mask = { "padding", window = { 3, 3 } }, seq = 90,
      batch = 3 },
      { positions = "learned", batch = 4 }, { input = { stage = "tokens", vocab = 5 }, seq = 33 },
      { bias = false, norm = "none" }, { plan = { token_block = 3, k_block = 8, k_order = "outer" }, d_ff = 100 },
      { batch = 3, output = { { stage = "pool", over = "mean" }, { stage = "linear", to = 100 },
        { stage = "argmax" } } },
      { target = "avx2", seq = 70, plan = { query_block = 9, key_block = 16 } } } do
      local state = helper.tiny(more, "lower") -- the checker compares, too
      local calls = 0
      for _, step in ipairs(helper.steps(state.programs[1])) do
        if step.form == "product" or step.form == "map" or step.form == "row" then calls = calls + 1 end
      end
      assert.equal(calls, state.plan.entries[1].lines)
    end
  end)

  it("refuses a model over its budget, and takes one that just fits", function()
    local fault = helper.fault(helper.tiny, { max_lines = 20 }, "plan")
    assert.same({ "tiny.lua: max_lines: the model unrolls to 21 steps, and the budget is 20; "
      .. "raise max_lines, or take fewer "
      .. "layers, a shorter seq or a smaller d_model" }, fault.lines)
    assert.equal(2, fault.code)
    assert.is_nil(helper.fault(helper.tiny, { max_lines = 21 }, "plan"))
  end)
end)
