-- plan_spec: panels, K blocks, token blocks, leading dimensions, fusion, storage forms and
-- how sequences are taken together.
local helper = require("tests.spec.helper")

local function planned(more) return helper.tiny(more, "plan") end

-- "leading + epilogue ... -> result" of each row-wise fusion, in order.
local function fusions(state)
  local list = {}
  for _, segment in ipairs(state.plan.segments) do
    for _, section in ipairs(segment.sections) do
      for _, region in ipairs(section.regions) do
        for _, fusion in ipairs(region.fusions) do
          local parts = { fusion.leading.op }
          for _, op in ipairs(fusion.epilogue) do parts[#parts + 1] = op.op end
          list[#list + 1] = table.concat(parts, " + ") .. " -> " .. fusion.result.name
        end
      end
    end
  end
  return list
end

local function form(state, name) return state.plan.storage[name].form end

describe("fusion", function()
  it("makes activations and residual sums the epilogue of the product before them", function()
    assert.same({
      "linear -> l0.attn.q", "linear -> l0.attn.k", "linear -> l0.attn.v", "linear + add -> l0.attn.sum",
      "layer_norm -> l0.norm1", "linear + activate -> l0.ff.act", "linear + add -> l0.ff.sum", "layer_norm -> l0.norm2",
    }, fusions(planned()))
  end)

  it("makes positions the epilogue of what makes the states", function()
    assert.equal("embed + add -> input.states", fusions(planned({ input = { stage = "tokens", vocab = 5 } }))[1])
    assert.equal("linear + add -> input.states",
      fusions(planned({ input = { stage = "linear", from = 5 }, positions = "sinusoidal" }))[1])
    assert.equal("add -> input.states", fusions(planned({ positions = "learned" }))[1])
  end)

  it("takes several ops as an epilogue, also of norms", function()
    local list = fusions(planned({ output = { { stage = "linear", to = 3 }, { stage = "relu" }, { stage = "tanh" } } }))
    assert.equal("linear + activate + activate -> output.3.tanh", list[#list])
    list = fusions(planned({ output = { { stage = "norm" }, { stage = "sigmoid" } } }))
    assert.equal("layer_norm + activate -> output.2.sigmoid", list[#list])
  end)

  it("stops at an output: the caller is to have it", function()
    local list = fusions(planned({ output = { { stage = "linear", to = 3, name = "raw" }, { stage = "relu" } } }))
    assert.equal("linear -> output.1.linear", list[#list - 1])
    assert.equal("activate -> output.2.relu", list[#list])
  end)

  it("stops at what two ops read", function()
    -- Pre-norm: the sum is read by the norm and by the next sum.
    local list = fusions(planned({ norm = "pre" }))
    assert.same({ "linear + add -> l0.attn.sum", "layer_norm -> l0.norm2" }, { list[5], list[6] })
  end)
end)

describe("storage", function()
  it("of inputs and outputs is the caller's, rows without padding", function()
    local state = planned({ input = { stage = "linear", from = 5 } })
    assert.same({ "external", 5 }, { form(state, "in.features"), state.plan.storage["in.features"].leading_dimension })
    assert.same({ "external", 16 }, { form(state, "l0.norm2"), state.plan.storage["l0.norm2"].leading_dimension })
  end)

  it("of what is an epilogue's or is never whole is none", function()
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

  it("of experts' choices has an odd number of lines from one to the next where products read them", function()
    local state = planned({ d_model = 512, experts = { count = 4, used = 2, d_ff = 512 } })
    local spread, act = state.plan.storage["l0.norm1.spread"], state.plan.storage["l0.ff.act"]
    assert.same({ "grouped", 2 * 512, 2 * (512 + 16) }, { spread.form, spread.width, spread.leading_dimension })
    assert.same({ "grouped", 2 * 512 }, { act.form, act.leading_dimension }) -- other operations take all parts at once
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
    for _, segment in ipairs(planned(more).plan.segments) do
      list[#list + 1] = ("%s %d x %d"):format(segment.name, segment.repeats, segment.micro_batch)
    end
    return list
  end

  it("are taken together until they fill a micro-batch's tokens", function()
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

describe("what lowering reads", function()
  local function regions(more) return planned(more).plan.segments[1].sections[1].regions end

  it("is the outputs that a kernel makes, padded where the rows have room", function()
    local function outputs(more)
      more.target, more.d_model, more.heads, more.plan = "avx2", 36, 2, { panel = 64 }
      local region = regions(more)[1]
      return region.fusions[#region.fusions].outputs, region.fusions[1].outputs
    end
    local v, q = outputs {}
    assert.same({ 40 }, v) -- 36 outputs in rows of 48
    assert.same({ 40 }, q)
    -- the caller's rows have no room
    assert.same({ 36 }, outputs { layers = 0, input = { stage = "linear", from = 5 } })
  end)

  it("is the rows of scores, the blocks of keys, and the scores of a key block", function()
    local region = regions({ target = "avx2", seq = 150, d_model = 64 })[2]
    assert.equal("attention", region.kind)
    assert.equal(160, region.tile_ld)
    local key_blocks = region.blocks[1].ranges[1].key_blocks
    assert.same({ 64, 64, 24 }, { key_blocks[1].outputs, key_blocks[2].outputs, key_blocks[3].outputs })
    assert.equal(32, region.chunk_ld)
  end)

  it("is the rows that an operation takes at a time", function()
    for _, region in ipairs(regions { seq = 40, plan = { row_block = 16 } }) do
      for _, block in ipairs(region.kind == "rows" and region.blocks or {}) do
        assert.same({ { first = 0, count = 16 }, { first = 16, count = 16 }, { first = 32, count = 8 } },
          block.row_blocks)
      end
    end
  end)
end)

describe("workers", function()
  it("have no tile in common of what nobody reads", function()
    -- the encoder's result, which no layer takes
    local state = planned { layers = 0, threads = 3, plan = { token_block = 4 },
      memory = { stage = "encoder", seq = 8, layers = 0, input = { stage = "linear", from = 5 } } }
    assert.equal("full", state.plan.storage["encoder.input.linear"].form)
  end)
end)

describe("parameters", function()
  it("are the target's rule, then the description's", function()
    local p = planned({ target = "x86_64", plan = { call_rows = 16 } }).plan.parameters
    assert.same({ 32, 16 }, { p.panel, p.call_rows })
  end)
end)
