-- convolution_spec: positions = "convolution" from the graph to its products: rows of a window follow each other in
-- a tile, no panel has outputs of two groups, and sequences are taken one by one.
local helper = require("tests.spec.helper")
local all_regions = require("passes.common.regions")

local function state_of(more, last)
  local all = { seq = 20, batch = 3, d_model = 24, heads = 2, positions = "convolution", position_kernel = 6,
    position_groups = 3, mask = "padding" }
  for key, value in pairs(more or {}) do all[key] = value end
  return helper.state(helper.description(all), last)
end

local function fusion_of(state)
  for region in all_regions(state.plan.segments) do
    for _, fusion in ipairs(region.fusions) do
      if fusion.leading.op == "convolve" then return fusion, region end
    end
  end
end

describe("frames of features", function()
  it("become half as many rows by two convolutions, with zeros where these read beyond the ends", function()
    local graph = helper.state(helper.description { seq = 5, d_model = 16, heads = 2, layers = 0, positions = "none",
      input = { stage = "frames", from = 3 } }, "graph").graph
    assert.same({ "input.conv1.padded = join(in.features)", "input.conv1.windows = windows(input.conv1.padded)",
      "input.conv1 = linear(input.conv1.windows, input.conv1.weight, input.conv1.bias)",
      "input.conv1.act = activate(input.conv1)", "input.conv2.padded = join(input.conv1.act)",
      "input.conv2.windows = windows(input.conv2.padded)",
      "input.conv2 = linear(input.conv2.windows, input.conv2.weight, input.conv2.bias)",
      "input.conv2.act = activate(input.conv2)" }, helper.equations({ graph = graph }))
    for name, shape in pairs { ["in.features"] = { 1, 10, 3 }, ["input.conv1.padded"] = { 1, 12, 3 },
      ["input.conv1"] = { 1, 10, 16 }, ["input.conv2.padded"] = { 1, 11, 16 }, ["input.conv2"] = { 1, 5, 16 } } do
      assert.same(shape, graph.tensors[name].shape)
    end
    assert.same({ 16, 3, 3 }, graph.tensors["input.conv1.weight"].from.stored[1].shape)
  end)
end)

describe("the convolution of positions", function()
  it("reads groups of columns", function()
    local graph = state_of(nil, "graph").graph
    assert.same({ 3, 20, 24 }, graph.tensors["positions.conv"].shape)
    assert.same({ 24, 48 }, graph.tensors["positions.conv.weight"].shape)
    assert.same({ 24, 8, 6 }, graph.tensors["positions.conv.weight"].from.stored[1].shape)
    for _, op in ipairs(graph.entry.ops) do
      if op.op == "convolve" then assert.equal(2 * 3 * 20 * 24 * 48, op.flops) end
    end
  end)

  it("is as wide as the tables of tokens, whose width is mapped after it", function()
    local graph = state_of({ input = { stage = "tokens", vocab = 9, width = 12 } }, "graph").graph
    assert.same({ 3, 20, 12 }, graph.tensors["positions.conv"].shape)
    assert.same({ 12, 24 }, graph.tensors["positions.conv.weight"].shape)
  end)

  it("has panels within groups, and one sequence at a time", function()
    local state = state_of({ plan = { panel = 16, group_tokens = 60 } }, "plan")
    local fusion, region = fusion_of(state)
    assert.same({ 8, 8, 8 }, fusion.panels.widths)
    assert.equal(20, region.rows)
    assert.is_true(region.fusions[1] == fusion)
    assert.equal(3, state.plan.segments[1].repeats)
    local wide = state_of({ d_model = 144, plan = { panel = 32 } }, "plan") -- not 24 and 24
    assert.same({ 16, 16, 16, 16, 16, 16, 16, 16, 16 }, fusion_of(wide).panels.widths)
  end)

  it("has rows that overlap, so its kernels are in C", function()
    local state = state_of({ kernels = "libxsmm", batch = 1 }, "kernels")
    local found = 0
    for _, fn in ipairs(state.functions) do
      local kernel = fn.step.form == "product" and fn.step.kernel
      if kernel and kernel.ldb < kernel.k then
        found = found + 1
        assert.equal(8, kernel.ldb)
        assert.equal(48, kernel.k)
        assert.is_nil(fn.calls)
      end
    end
    assert.is_true(found > 0)
  end)

  it("knows the rows of a shorter sequence, if the mask says them", function()
    for mask, expected in pairs { none = false, padding = "in.lengths" } do
      for _, op in ipairs(state_of({ mask = mask, seq = 20 }, "graph").graph.entry.ops) do
        local lengths = op.op == "convolve" and op.operands.lengths
        if op.op == "convolve" then assert.equal(expected, lengths and lengths.name or false) end
      end
    end
  end)

  it("is of bf16 where other products are integers, and of f32 where pairs would cross windows", function()
    local function type_of(more) return state_of(more, "graph").graph.tensors["positions.conv.weight"].type end
    assert.equal("f32", type_of())
    assert.equal("bf16", type_of { precision = "bf16" })
    assert.equal("bf16", type_of { precision = "int8" })
    assert.equal("f32", type_of { precision = "bf16", position_groups = 24, position_kernel = 6 })
    assert.equal("f32", type_of { precision = { "bf16", input = "f32" } })
  end)
end)
