-- products_spec: the plan has every product that lowering makes and no other, and lowering takes its strips and
-- prefetch.
local helper = require("tests.spec.helper")
local all_regions = require("passes.common.regions")

-- Returns the planned products of a region by their shapes.
local function planned_of(region)
  local planned = {}
  local function add(product)
    planned[("%d x %d x %d of %s"):format(product.n, product.m, product.k, product.types.a)] = product
  end
  for _, fusion in ipairs(region.fusions) do
    for _, list in pairs(fusion.products or {}) do for _, product in ipairs(list) do add(product) end end
  end
  for _, product in ipairs(region.products or {}) do add(product) end
  return planned
end

-- Returns the shapes of a region that both have, and asserts that its steps are as planned.
local function compare(region, steps)
  local planned, made, count = planned_of(region), {}, 0
  for _, step in ipairs(steps) do
    if step.form == "product" and step.region == region then
      local k = step.kernel
      local name = ("%d x %d x %d of %s"):format(k.n, k.m, k.k, k.types.a)
      local product = planned[name]
      assert.is_table(product, name)
      assert.equal(product.strips, k.strips)
      assert.equal(product.fetch, k.fetch)
      count = count + (made[name] and 0 or 1)
      made[name] = true
    end
  end
  for name in pairs(planned) do assert.is_true(made[name], name .. " is planned, but not made") end
  return count
end

describe("the planned products", function()
  for name, more in pairs {
    ["of f32"] = { seq = 40, plan = { query_block = 16, key_block = 16, token_block = 16 } },
    ["that prefetch"] = { seq = 40, d_ff = 40, plan = { query_block = 16, key_block = 16, call_rows = 6, fetch = 1 } },
    ["of keys in chunks"] = { seq = 70, plan = { softmax_block = 16, tile_bytes = 1024 } },
    ["of tables of positions"] = { seq = 40, input = { stage = "tokens", vocab = 5 }, max_position = 40,
      positions = "relative_key_query", plan = { query_block = 16, key_block = 16 } },
    ["of bf16"] = { precision = "bf16", target = "avx512bf16", mask = "causal", plan = { query_block = 2 } },
    ["of int8"] = { precision = "int8" },
  } do
    it(name .. " are those that are made", function()
      local state, count = helper.tiny(more, "lower"), 0
      for _, program in ipairs(state.programs) do
        for region in all_regions(state.plan.segments) do
          count = count + compare(region, helper.steps(program))
        end
      end
      assert.is_true(count >= 6, tostring(count))
    end)
  end

  it("of a sequence's one query prefetch keys and values, except in tiles", function()
    local function near(target, precision)
      local state, list = helper.tiny({ context = 64, mask = "causal", precision = precision, target = target,
        d_model = 256, heads = 4, input = { stage = "tokens", vocab = 9 } }, "plan"), {}
      for region in all_regions(state.plan.segments) do
        for _, product in ipairs(region.products or {}) do
          list[#list + 1] = product.what .. (product.fetch and product.fetch.near or " none")
        end
      end
      table.sort(list)
      return list
    end
    assert.same({ "context none", "context16", "scores none", "scores16" }, near("amx", "f32"))
    local none = { "context none", "context none", "scores none", "scores none" }
    assert.same(none, near("amx", "bf16"))
    assert.same(none, near("avx512bf16", "bf16"))
  end)

  it("cut nothing twice: equal shapes share their strips", function()
    local state, seen = helper.tiny({ layers = 3 }, "plan"), {}
    for region in all_regions(state.plan.segments) do
      for name, product in pairs(planned_of(region)) do
        name = name .. (product.a_room and " with room" or "")
        assert.equal(seen[name] or product.strips, product.strips)
        seen[name] = product.strips
      end
    end
    assert.is_truthy(next(seen))
  end)
end)
