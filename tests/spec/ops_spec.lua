-- ops_spec: the table of operations: shapes, flops, equations, and the pairs that a mask leaves.
local helper = require("tests.spec.helper")
local ops = require("ops")

local function tensor(...) return { shape = { ... }, type = "f32" } end

-- Pairs (i, j) that the mask's words allow, one by one.
local function brute_force(attributes, queries, keys)
  local n = 0
  for i = 0, queries - 1 do
    for j = 0, keys - 1 do
      local seen = true
      if attributes.causal and j > i then seen = false end
      if attributes.left >= 0 and j < i - attributes.left then seen = false end
      if attributes.right >= 0 and j > i + attributes.right then seen = false end
      if seen then n = n + 1 end
    end
  end
  return n
end

describe("ops.visible_pairs", function()
  it("counts by formula what a loop over all pairs counts", function()
    for _, size in ipairs { 1, 2, 7, 16, 33 } do
      for _, left in ipairs { -1, 0, 1, 5, 40 } do
        for _, right in ipairs { -1, 0, 2, 40 } do
          for _, causal in ipairs { true, false } do
            local attributes = { causal = causal, left = left, right = right }
            assert.equal(brute_force(attributes, size, size), ops.visible_pairs(attributes, size, size))
          end
        end
      end
    end
  end)

  it("is n (n + 1) / 2 where causal, and all without a mask", function()
    assert.equal(36, ops.visible_pairs({ causal = true, left = -1, right = -1 }, 8, 8))
    assert.equal(64, ops.visible_pairs({ causal = false, left = -1, right = -1 }, 8, 8))
  end)
end)

describe("ops.make", function()
  local mask = { heads = 2, causal = false, left = -1, right = -1 }

  it("counts a linear's 2 N M K", function()
    local op = ops.make("linear", "input", { x = tensor(2, 3, 5), weight = tensor(7, 5) }, {})
    assert.same({ 2, 3, 7 }, op.shape)
    assert.equal(2 * 2 * 3 * 7 * 5, op.flops)
    assert.equal("f32", op.type)
  end)

  it("gives scores a row a head and query, and counts visible pairs only", function()
    local op = ops.make("scores", "layer 0", { q = tensor(3, 4, 10), k = tensor(3, 6, 10) }, mask)
    assert.same({ 3, 2, 4, 6 }, op.shape)
    assert.equal(2 * 3 * 10 * 4 * 6, op.flops)
    local causal = ops.make("scores", "layer 0", { q = tensor(3, 4, 10), k = tensor(3, 4, 10) },
      { heads = 2, causal = true, left = -1, right = -1 })
    assert.equal(2 * 3 * 10 * 10, causal.flops)
  end)

  it("gives the context the width of the values", function()
    local op = ops.make("context", "layer 0", { weights = tensor(3, 2, 4, 6), v = tensor(3, 6, 10) }, mask)
    assert.same({ 3, 4, 10 }, op.shape)
    assert.equal(2 * 3 * 10 * 4 * 6, op.flops)
  end)

  it("knows the shapes of all others and counts no flops there", function()
    local x = tensor(2, 3, 5)
    local cases = {
      { "embed", { ids = tensor(2, 3), table = tensor(50, 5) }, {}, { 2, 3, 5 } },
      { "add", { a = x, b = tensor(3, 5) }, {}, { 2, 3, 5 } },
      { "copy", { x = x }, {}, { 2, 3, 5 } },
      { "activate", { x = x }, { ["function"] = "relu" }, { 2, 3, 5 } },
      { "layer_norm", { x = x }, { eps = 1e-5 }, { 2, 3, 5 } },
      { "softmax", { scores = tensor(2, 1, 3, 3) }, { scale = 1.0 }, { 2, 1, 3, 3 } },
      { "pool", { x = x }, { ["function"] = "mean" }, { 2, 5 } },
      { "argmax", { x = x }, {}, { 2, 3 } },
    }
    for _, case in ipairs(cases) do
      local op = ops.make(case[1], "input", case[2], case[3])
      assert.same(case[4], op.shape, case[1])
      assert.equal(0, op.flops)
      assert.equal(case[1] == "argmax" and "i32" or "f32", op.type)
    end
  end)

  it("refuses a missing operand, an unknown one, a missing attribute and an unknown op", function()
    assert.matches("linear lacks weight", helper.defect(ops.make, "linear", "s", { x = tensor(1, 1, 1) }, {}))
    assert.matches("copy has no operand y", helper.defect(ops.make, "copy", "s", { x = tensor(1), y = tensor(1) }, {}))
    assert.matches("softmax lacks attribute scale",
      helper.defect(ops.make, "softmax", "s", { scores = tensor(1, 1, 1, 1) }, {}))
    assert.matches("nonsense", helper.defect(ops.make, "nonsense", "s", {}, {}))
  end)

  it("declares an equation and a list of operands, at most six, for each op", function()
    for name, op in pairs(ops.table) do
      assert.is_string(op.equation, name)
      assert.is_true(#op.operands >= 1 and #op.operands <= 6, name)
      assert.is_function(op.shape, name)
    end
  end)
end)
