-- plan_spec: panels, K blocks, token blocks, leading dimensions, fusion, storage forms and
-- how sequences are taken together.
local helper = require("tests.spec.helper")
local plan = require("plan")

local function planned(more) return helper.tiny(more, "plan") end

-- "head + rider ... -> result" of each row-wise group, in order.
local function groups(state)
  local list = {}
  for _, segment in ipairs(state.plan.entries[1].segments) do
    for _, section in ipairs(segment.sections) do
      for _, region in ipairs(section.regions) do
        for _, group in ipairs(region.groups) do
          local parts = { group.head.op }
          for _, rider in ipairs(group.riders) do parts[#parts + 1] = rider.op end
          list[#list + 1] = table.concat(parts, " + ") .. " -> " .. group.result.name
        end
      end
    end
  end
  return list
end

local function form(state, name) return state.plan.storage[name].form end

describe("panels", function()
  local function widths(outputs, panel) return plan.panels(outputs, panel).widths end

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
        local p = plan.panels(outputs, panel)
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

describe("K blocks", function()
  it("are one up to twice the wanted size", function()
    assert.same({ size = 1, count = 1, tail = 0 }, plan.k_blocks(1, 64))
    assert.same({ size = 128, count = 1, tail = 0 }, plan.k_blocks(128, 64))
  end)

  it("are the divisor nearest to the wanted size, or have a tail", function()
    assert.same({ size = 64, count = 12, tail = 0 }, plan.k_blocks(768, 64))
    assert.same({ size = 50, count = 4, tail = 0 }, plan.k_blocks(200, 64)) -- 40 and 50 divide 200
    assert.same({ size = 64, count = 2, tail = 3 }, plan.k_blocks(131, 64)) -- 131 is prime
    assert.same({ size = 43, count = 3, tail = 0 }, plan.k_blocks(129, 64))
  end)

  it("cover K", function()
    for _, wanted in ipairs { 8, 64, 100 } do
      for k = 1, 1000 do
        local b = plan.k_blocks(k, wanted)
        assert.equal(k, b.size * b.count + b.tail)
        assert.is_true(b.tail < b.size and b.count >= 1)
      end
    end
  end)
end)

describe("token blocks", function()
  it("are as few as the limit allows, of equal sizes as far as that goes", function()
    assert.same({ { first = 0, count = 128 } }, plan.blocks(128, 128))
    assert.same({ { first = 0, count = 65 }, { first = 65, count = 64 } }, plan.blocks(129, 128))
    assert.same({ { first = 0, count = 4 }, { first = 4, count = 3 }, { first = 7, count = 3 } }, plan.blocks(10, 4))
    for n = 1, 300 do
      local next_row = 0
      local list = plan.blocks(n, 37)
      assert.equal(math.ceil(n / 37), #list)
      for _, block in ipairs(list) do
        assert.equal(next_row, block.first)
        assert.is_true(block.count >= n // #list and block.count <= 37)
        next_row = next_row + block.count
      end
      assert.equal(n, next_row)
    end
  end)
end)

describe("a leading dimension", function()
  it("is whole cache lines, an odd number of them from 256 floats on", function()
    for width, ld in pairs { [1] = 16, [16] = 16, [17] = 32, [240] = 240, [241] = 272, [256] = 272, [257] = 272,
      [272] = 272,
      [768] = 784, [3072] = 3088 } do
      assert.equal(ld, plan.leading_dimension(width, { odd_lines = 256 }), width)
      assert.equal((width + 15) // 16 * 16, plan.leading_dimension(width, { odd_lines = 4096 }), width)
    end
  end)
end)

describe("fusion", function()
  it("lets activations and residual sums ride on the product before them", function()
    assert.same({
      "linear -> l0.attn.q", "linear -> l0.attn.k", "linear -> l0.attn.v", "linear + add -> l0.attn.sum",
      "layer_norm -> l0.norm1", "linear + activate -> l0.ff.act", "linear + add -> l0.ff.sum", "layer_norm -> l0.norm2",
    }, groups(planned()))
  end)

  it("lets positions ride on what makes the states", function()
    assert.equal("embed + add -> input.states", groups(planned({ input = { stage = "tokens", vocab = 5 } }))[1])
    assert.equal("linear + add -> input.states",
      groups(planned({ input = { stage = "linear", from = 5 }, positions = "sinusoidal" }))[1])
    assert.equal("add -> input.states", groups(planned({ positions = "learned" }))[1])
  end)

  it("takes several riders, and those on norms", function()
    local list = groups(planned({ output = { { stage = "linear", to = 3 }, { stage = "relu" }, { stage = "tanh" } } }))
    assert.equal("linear + activate + activate -> output.3.tanh", list[#list])
    list = groups(planned({ output = { { stage = "norm" }, { stage = "sigmoid" } } }))
    assert.equal("layer_norm + activate -> output.2.sigmoid", list[#list])
  end)

  it("stops at an output: the caller is to have it", function()
    local list = groups(planned({ output = { { stage = "linear", to = 3, name = "raw" }, { stage = "relu" } } }))
    assert.equal("linear -> output.1.linear", list[#list - 1])
    assert.equal("activate -> output.2.relu", list[#list])
  end)

  it("stops at what two ops read", function()
    -- Pre-norm: the sum is read by the norm and by the next sum.
    local list = groups(planned({ norm = "pre" }))
    assert.same({ "linear + add -> l0.attn.sum", "layer_norm -> l0.norm2" }, { list[5], list[6] })
  end)
end)

describe("storage", function()
  it("of inputs and outputs is the caller's, rows without padding", function()
    local state = planned({ input = { stage = "linear", from = 5 } })
    assert.same({ "external", 5 }, { form(state, "in.features"), state.plan.storage["in.features"].leading_dimension })
    assert.same({ "external", 16 }, { form(state, "l0.norm2"), state.plan.storage["l0.norm2"].leading_dimension })
  end)

  it("of what rides or is never whole is none", function()
    local state = planned()
    for _, name in ipairs { "l0.attn.scores", "l0.attn.weights", "l0.attn.out", "l0.ff.up", "l0.ff.down" } do
      assert.equal("fused", form(state, name), name)
    end
    for _, name in ipairs { "l0.attn.q", "l0.attn.v", "l0.attn.context", "l0.attn.sum" } do
      assert.equal("full", form(state, name), name)
    end
  end)

  it("of keys is transposed, in panels", function()
    local k = planned().plan.storage["l0.attn.k"]
    assert.same({ "transposed", 64, 16 }, { k.form, k.key_block, k.width })
  end)

  it("of what only one region's blocks pass on is a tile of a block", function()
    local state = planned({ plan = { token_block = 3 } }) -- blocks of 3, 3, 2
    assert.same({ "tile", 3 }, { form(state, "l0.ff.act"), state.plan.storage["l0.ff.act"].tile_rows })
    assert.equal("tile", form(state, "l0.norm1"))
    assert.equal("full", form(state, "l0.attn.q")) -- attention reads all of it
  end)

  it("of a norm lies over what it norms where nobody else reads that", function()
    local state = planned()
    assert.equal("l0.attn.sum", state.plan.storage["l0.norm1"].over)
    assert.is_nil(state.plan.storage["l0.norm2"].over) -- the caller's
    assert.is_nil(planned({ norm = "pre" }).plan.storage["l0.norm2"].over) -- the sum is read again
  end)

  it("of what is pooled holds the whole batch", function()
    local state = planned({ batch = 40, output = { { stage = "pool", over = "mean" }, { stage = "norm" } } })
    assert.is_true(state.plan.storage["output.1.pool"].whole_batch)
    assert.is_false(state.plan.storage["l0.norm2"].whole_batch)
  end)
end)

describe("sequences", function()
  local function segments(more)
    local list = {}
    for _, segment in ipairs(planned(more).plan.entries[1].segments) do
      list[#list + 1] = ("%s %d x %d"):format(segment.name, segment.repeats, segment.group)
    end
    return list
  end

  it("are taken together until they fill the group's tokens", function()
    assert.same({ "sequences 1 x 1" }, segments())
    assert.same({ "sequences 1 x 5" }, segments({ batch = 5 }))
    assert.same({ "sequences 2 x 16" }, segments({ batch = 32 })) -- 16 x 8 = 128 tokens
    assert.same({ "sequences 3 x 16" }, segments({ batch = 33 }))
    assert.same({ "sequences 7 x 1" }, segments({ batch = 7, seq = 100 }))
    assert.same({ "sequences 3 x 2" }, segments({ batch = 5, plan = { group_tokens = 17 } }))
  end)

  it("are one matrix of rows once pooled", function()
    assert.same({ "sequences 2 x 16", "pooled 1 x 32" },
      segments({ batch = 32, output = { { stage = "pool", over = "mean" }, { stage = "linear", to = 2 } } }))
  end)
end)

describe("parameters", function()
  it("are the target's rule, then the description's", function()
    local p = planned({ target = "x86_64", plan = { k_block = 16 } }).plan.parameters
    assert.same({ 32, 16 }, { p.panel, p.k_block })
  end)
end)
