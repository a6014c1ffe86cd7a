-- fused_kernels_spec: which products the plan fuses with the map after them, and where their sums are.
local helper = require("tests.spec.helper")

-- Returns where the sums are of a small model's products, by the name of what a fusion makes, and of the blocks of its
-- attention. Their maps are the next steps of the lowered program.
local function fused_sums_of(more)
  local state = helper.tiny(more, "lower")
  local found, blocks = {}, {}
  for _, section in ipairs(state.plan.segments[1].sections) do
    for _, region in ipairs(section.regions) do
      for _, fusion in ipairs(region.fusions) do
        for _, product in ipairs(fusion.products and fusion.products[region.blocks[1].count] or {}) do
          found[fusion.leading.result.name] = product.fused_sums or "none"
        end
      end
      for i, block in ipairs(region.kind == "attention" and region.blocks or {}) do
        blocks[i] = region.fused_contexts[block] or "none"
      end
    end
  end
  local list
  for _, section in ipairs(state.programs[1].segments[1].sections) do
    list = section.steps
    for i, step in ipairs(list) do
      if step.fused_sums then assert.equal("map", list[i + 1].form) end
    end
  end
  for _, section in ipairs(state.programs[2].segments[1].sections) do
    for _, step in ipairs(section.steps) do assert.is_nil(step.fused_sums) end
  end
  return found, blocks
end

describe("a product and the map after it", function()
  it("are fused with sums on the stack if the map turns them into other numbers", function()
    local int8 = fused_sums_of { target = "avx512vnni", precision = "int8" }
    assert.equal("stack", int8["l0.attn.q.sums"])
    assert.equal("stack", int8["l0.ff.down.sums"])
    local bf16 = fused_sums_of { target = "avx512bf16", precision = "bf16", mask = "causal" }
    assert.equal("stack", bf16["l0.ff.up"])
  end)

  it("are fused in place if the map works on the sums", function()
    local bf16 = fused_sums_of { target = "avx512bf16", precision = "bf16" }
    assert.equal("place", bf16["l0.ff.down"])
  end)

  it("are not if there is no map, or the rows are floats, or the sums are in tiles", function()
    assert.equal("none", fused_sums_of({ target = "avx512bf16", precision = "bf16", bias = false, residual = false,
      output = { { stage = "linear", to = 3, bias = false } } })["output.1.linear"])
    for _, more in ipairs { { target = "avx512" }, { target = "avx512", precision = "bf16" } } do
      for name, place in pairs((fused_sums_of(more))) do assert.equal("none", place, name) end
    end
    for name, place in pairs((fused_sums_of { target = "amx", precision = "bf16", d_model = 64, seq = 64 })) do
      assert.equal("none", place, name)
    end
  end)

  it("are fused in an attention if no mask may have to be repaired in between", function()
    local _, plain = fused_sums_of { target = "avx512bf16", precision = "bf16" }
    assert.same({ "stack" }, plain)
    local _, causal = fused_sums_of { target = "avx512bf16", precision = "bf16", mask = "causal" }
    assert.same({ "none" }, causal)
  end)
end)
