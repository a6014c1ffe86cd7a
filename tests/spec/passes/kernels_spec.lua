-- kernels_spec: distinct kernel shapes, batches and row operations, each once, named by what
-- they do.
local helper = require("tests.spec.helper")
local schedule = require("passes.schedule")

local function kernels(more) return helper.tiny(more, "kernels") end

local function of_libxsmm(more)
  local all = { kernels = "libxsmm" }
  for key, value in pairs(more or {}) do all[key] = value end
  return kernels(all)
end

describe("kernels of libxsmm", function()
  it("are listed once each, and every product has its own", function()
    local state = of_libxsmm({ layers = 3, mask = "causal", seq = 70 })
    local seen = {}
    for _, k in ipairs(state.kernels) do
      local key = table.concat({ k.m, k.n, k.k, k.lda, k.ldb, k.ldc, k.beta }, " ")
      assert.is_nil(seen[key], key)
      seen[key] = true
    end
    for _, program in ipairs(state.programs) do
      schedule.each(program, function(step)
        if step.form == "product" then assert.same(step.kernel, state.kernels[step.kernel_index + 1]) end
      end)
    end
  end)

  it("do not grow in number with layers or heads", function()
    assert.equal(#of_libxsmm({ layers = 2 }).kernels, #of_libxsmm({ layers = 7 }).kernels)
    assert.equal(#of_libxsmm({ d_model = 32, heads = 2 }).kernels, #of_libxsmm({ d_model = 32, heads = 4 }).kernels)
  end)

  it("of a tiny model are five", function()
    -- 16 x 8 x 16 of q, k, v and out; scores; context; up 64 x 8 x 16; down 16 x 8 x 64.
    local state = of_libxsmm()
    assert.equal(5, #state.kernels)
    local k = state.kernels[1]
    assert.same({ 16, 8, 16, 16, 16, 16, 0 }, { k.m, k.n, k.k, k.lda, k.ldb, k.ldc, k.beta })
  end)

  it("differ where only the leading dimension or beta does", function()
    local state = of_libxsmm({ plan = { k_block = 8, k_order = "outer" } })
    local betas = { [0] = 0, [1] = 0 }
    for _, k in ipairs(state.kernels) do betas[k.beta] = betas[k.beta] + 1 end
    assert.is_true(betas[1] > 0)
  end)
end)

describe("batches of libxsmm", function()
  it("are one a count and pair of strides", function()
    local state = of_libxsmm({ d_ff = 256 })
    assert.equal("BATCH_1", state.batches[1].name)
    local names = {}
    for _, batch in ipairs(state.batches) do
      assert.is_nil(names[batch.name])
      names[batch.name] = batch
    end
    -- down: K 256 in 4 blocks of 64; a panel's row is 16 floats: 64 x 16 x 4 bytes apart in A, 64 x 4 in B.
    assert.same({ name = "BATCH_4", count = 4, a = 4096, b = 256 }, names.BATCH_4)
  end)

  it("are those of each product, where several are as long, too", function()
    -- Four K blocks of 64 of the feed-forward, four blocks of 16 keys of the context.
    local state, as_long = of_libxsmm({ seq = 64, d_ff = 256, plan = { key_block = 16, query_block = 64 } }), 0
    local names = {}
    for _, batch in ipairs(state.batches) do
      names[batch.name] = batch
      if batch.count == 4 then as_long = as_long + 1 end
    end
    assert.is_true(as_long >= 2)
    schedule.each(state.programs[1], function(step)
      for _, call in ipairs(step.form == "product" and (step.calls or { step }) or {}) do
        local batch = names[call.batch_name]
        assert.same({ call.batch.count, call.batch.a, call.batch.b }, { batch.count, batch.a, batch.b })
      end
    end)
  end)
end)

describe("row operations", function()
  it("have one name a shape, numbered where a name would come twice", function()
    local state = kernels({ seq = 24, mask = "causal", plan = { query_block = 8 }, layers = 2 })
    local names = {}
    for _, fn in ipairs(state.functions) do
      assert.is_nil(names[fn.name], fn.name)
      names[fn.name] = true
      assert.matches("^[a-z][a-z0-9_]*$", fn.name)
    end
    assert.is_true(names.bias_24x16)
    assert.is_true(names.softmax_8x16)
    assert.is_true(names.bias_add_24x16)
    assert.is_true(names.bias_gelu_24x64)
    assert.is_true(names.mask_band_8x16)
  end)

  it("are shared by equal steps and by no others", function()
    local sorted_keys = require("common.words").sorted_keys
    local function check(state)
      local by_name = {}
      for _, program in ipairs(state.programs) do
        schedule.each(program, function(step)
          if step.form == "row" or step.form == "map" then
            local constants = {}
            for _, name in ipairs(sorted_keys(step.constants)) do
              constants[#constants + 1] = name .. "=" .. tostring(step.constants[name])
            end
            local text = ("%s %s of %s"):format(step.fn or "map", table.concat(constants, " "),
              table.concat(sorted_keys(step.arguments), " "))
            assert.equal(by_name[step.function_name] or text, text)
            by_name[step.function_name] = text
          end
        end)
      end
    end
    check(kernels({ layers = 2, mask = "causal" }))
    -- Norms that are alike but for a bias.
    check(kernels({ memory = { stage = "encoder", seq = 8, bias = { norm = false } } }))
  end)
end)
