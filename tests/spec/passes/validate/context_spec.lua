-- context_spec: what goes with a context, the sizes of its calls, and what is refused by name.
local helper = require("tests.spec.helper")

-- A model that writes.
local function writer(more)
  local description = { context = 100, mask = "causal", input = { stage = "tokens", vocab = 9 } }
  for key, value in pairs(more or {}) do description[key] = value end
  return helper.description(description)
end

local function refusals(more) return helper.refusals(writer(more)) end

describe("a context", function()
  it("has calls of at most a chunk, or of a token of each sequence", function()
    local function sizes(more)
      local spec = helper.state(writer(more), "validate").spec
      return { spec.seq, spec.call_rows, spec.sequences, spec.chunk, spec.any }
    end
    assert.same({ 100, 100, 1, 256, true }, sizes())
    assert.same({ 100, 16, 1, 16, true }, sizes { chunk = 16 })
    assert.same({ 2000, 512, 1, 512, true },
      sizes { context = 2000, experts = { count = 2, used = 1, d_ff = 32 }, d_model = 64, heads = 4 })
    assert.same({ 4096, 32, 32, 8, true }, sizes { chunk = 8, sequences = 32, context = 4096 })
  end)

  it("keeps keys and values in the type that the attention multiplies", function()
    local function attention(more) return helper.state(writer(more), "validate").spec.precision.by_part.attention end
    assert.is_nil(attention { precision = "bf16" })
    assert.equal("bf16", attention { cache = "bf16" })
    assert.equal("f32", attention { precision = "bf16", cache = "f32" })
    assert.same({ "cache: f32, but precision says attention = \"bf16\"; both are one choice" },
      refusals { cache = "f32", precision = { "bf16", attention = "bf16" } })
    assert.equal("f32", attention { precision = "bf16", cache = "int8" })
    assert.equal("f32", attention { precision = "bf16", cache = "int4" })
    assert.same({ "cache: int8, but precision says attention = \"bf16\"; with integers an attention is f32" },
            refusals { cache = "int8", precision = { "bf16", attention = "bf16" } })
    assert.same({ "cache: goes with context" }, helper.refusals(helper.description { cache = "f32" }))
  end)

  it("takes the place of seq", function()
    assert.same({ "seq: context, which is for causal models, takes its place; leave seq out" }, refusals { seq = 8 })
    assert.same({ "sequences: goes with context", "chunk: goes with context" },
      helper.refusals(helper.description { sequences = 2, chunk = 3 }))
  end)

  local refused = {
    { { mask = "none" }, "mask: a context needs mask = \"causal\" in each layer, or a window { left, 0 }" },
    { { mask = { window = { 4, 1 } } },
      "mask: a context needs mask = \"causal\" in each layer, or a window { left, 0 }" },
    { { input = { stage = "hidden" } }, "input: a context goes with input = tokens { ... }" },
    { { input = { stage = "tokens", vocab = 9, types = 2 } }, "input.types: token types do not go with a context" },
    { { layers = 0 }, "layers: a context needs a layer, whose keys it keeps" },
    { { projections = false },
      "projections: a context keeps keys apart from values, so one of them needs a projection" },
    { { projections = { k = false, v = false } },
      "projections: a context keeps keys apart from values, so one of them needs a projection" },
    { { sequences = 32, context = 31 }, "sequences: 32, but a context of 31 tokens takes at most 31" },
    { { weighting = "relu" }, "weighting: a context goes with weighting = \"softmax\"" },
    { { output = { { stage = "pool", over = "last" } } }, "output.1: a pool over rows does not go with a context" },
    { { output = { { stage = "argmax" } } },
      "output.1: numbers of the best tokens do not go with a context, which gives logits" },
    { { kernels = "libxsmm" }, "kernels: kernels of libxsmm: not supported with a context" },
  }
  for _, each in ipairs(refused) do
    it("is refused with: " .. each[2], function() assert.same({ each[2] }, refusals(each[1])) end)
  end

  it("takes windows that see nothing after a token", function()
    assert.same({}, refusals { mask = { window = { 4, 0 } } })
  end)
end)
