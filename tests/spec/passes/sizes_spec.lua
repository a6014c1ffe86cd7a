-- sizes_spec.lua: types of weights for a number of bytes. The packed weights take at most that number, and with more
-- bytes the divergence is not larger. No other type for a single part is better. A size that is too small is refused.
local helper = require("tests.spec.helper")
local faults = require("common.faults")
local files = require("common.files")
local pipeline = require("pipeline")
local sizes = require("passes.sizes")
local types = require("data.types")

local folder
local model = [[return { name = "sized", input = tokens { vocab = 300 }, d_model = 96, heads = 3, layers = 3,
  d_ff = 200, gated = true, mask = "causal", context = 64, output = { vocabulary() } }]]

-- Runs the passes up to `last` with a size and the divergence of each part. text: of another model, or nil.
local function run(size, parts, last, text)
  helper.write(folder .. "/sized.lua", text or model)
  helper.write(folder .. "/parts", parts or sizes.text { { name = "layer 0", divergence = 0.2 },
    { name = "layer 1", divergence = 0 }, { name = "layer 2", divergence = 0.03 },
    { name = "output", divergence = 0.01 }, { name = "embedding", divergence = 1.5e-7 } })
  local overrides = { "target=avx2", "weights={size=" .. size .. "}" }
  local file = parts ~= false and { file = folder .. "/parts", asked = true } or nil
  return pipeline.run(helper.absolute_root(), folder .. "/sized.lua", overrides, last or "layout", { parts = file })
end

local function fault_of(...)
  local done, fault = pcall(run, ...)
  assert.is_false(done)
  assert.is_true(faults.is(fault), tostring(fault))
  return fault
end

describe("types for a size", function()
  setup(function() folder = helper.folder() end)
  teardown(helper.clean)

  it("take at most the bytes, and more bytes have no larger divergence", function()
    local before = math.huge
    for size = 194000, 500000, 9000 do
      local state = run(size)
      assert.is_true(state.primary.weights.bytes <= size)
      assert.equal(state.sized.bytes, state.primary.weights.bytes)
      local divergence = 0
      for _, part in ipairs(state.sized.parts) do divergence = divergence + part.divergence end
      assert.is_true(divergence <= before * 1.02, tostring(size)) -- greedy steps are not always the best for a size
      before = math.min(divergence, before)
    end
    local most = run('"1 GiB"').sized
    for _, part in ipairs(most.parts) do
      assert.equal(part.name == "layer 1" and "int2" or "int8", part.type.weights) -- whose divergence is 0
    end
  end)

  it("count a table's rows, where it is not the output's weight, too", function()
    local state = run(300000, nil, nil, (model:gsub("vocabulary%(%)", "vocabulary { tied = false }")))
    assert.equal("embedding", state.sized.parts[#state.sized.parts].name)
    assert.equal(state.sized.bytes, state.primary.weights.bytes)
  end)

  it("leave no byte with which one part would be better", function()
    for size = 200000, 450000, 25000 do
      local of = run(size).sized
      for _, part in ipairs(of.parts) do
        for _, type in ipairs(types.scaled) do
          local fits = type.error ~= nil and of.bytes - part.bytes + part.bytes_in[type.name] <= size
          assert.is_false(fits and part.measured > 0 and type.error < part.type.error, part.name .. " " .. type.weights)
        end
      end
    end
  end)

  it("are in the pass's dump, and become words of parts", function()
    local state = run(240000, nil, "graph")
    local text = sizes.dump(state)
    assert.matches("^%d+ bytes of packed weights, at most 240000\n  rest: %d+ bytes\n  layer 0: int%w+, %d+ bytes, ",
      text)
    local word = text:match("\n  output and embedding: (%w+), ")
    assert.equal(word, state.spec.weights.by_part.embedding or state.spec.weights.all)
    for _, name in ipairs { "input.tokens.weight", "output.1.vocabulary.weight" } do
      assert.equal(types.of_scaled[word], state.primary.graph.tensors[name].type)
    end
    assert.matches("^no size is asked for", sizes.dump(helper.tiny({}, "validate")))
  end)

  it("cannot be fewer bytes than the smallest types have", function()
    local fault = fault_of(1000)
    local least = tonumber(fault.lines[1]:match("size: 1000 bytes, but the least that these types give is (%d+)$"))
    assert.equal(2, fault.code)
    assert.equal(least, run(least).primary.weights.bytes)
    fault_of(least - 1)
  end)

  it("need the divergence of each part, and a number of bytes", function()
    assert.matches("sized.lua: weights: size: the divergence of each part is needed: quality %-%-by%-part measures it$",
      fault_of(200000, false).lines[1])
    assert.matches('has no "layer 1": measure again', fault_of(200000, sizes.text { { name = "layer 0",
      divergence = 1 } }).lines[1])
    for text, line in pairs { ["layer 0 1\n"] = 1, ["attn2c parts 1 int3\nlayer\n"] = 2,
      ["attn2c parts 1 int3\nlayer 0 -1\n"] = 2, ["attn2c parts 1 int3\nlayer 0 nan\n"] = 2 } do
      local fault = fault_of(200000, text)
      assert.equal(3, fault.code)
      assert.matches("parts: line " .. line .. ": ", fault.lines[1])
    end
    for _, size in ipairs { "0", "-5", '"60"', '"60 XB"', "1.5", '"60 MB",output="int4"' } do
      assert.matches('weights: size: a number of bytes such as "60 MB" by itself is allowed$', fault_of(size).lines[1])
    end
    assert.equal(1500000, run('"1.5 MB"', nil, "validate").spec.weights.size)
    local done, fault = pcall(pipeline.run, helper.absolute_root(), folder .. "/sized.lua", { "target=avx2" }, "layout",
      { parts = { file = folder .. "/parts", asked = true } })
    assert.is_false(done)
    assert.matches("^%-%-parts .*parts: goes with weights = { size = BYTES }", fault.lines[1])
    assert.is_nil(sizes.given(nil))
    assert.is_nil(sizes.given { file = folder .. "/none" })
    assert.is_false(pcall(sizes.given, { file = folder .. "/none", asked = true }))
    assert.is_truthy(files.read(folder .. "/parts"))
  end)
end)
