-- lengths_spec: the sizes of arrays as the header and the Python module state them, and the sizes of calls.
local helper = require("tests.spec.helper")
local emit_lengths = require("passes.emit.lengths")
local emit_module = require("passes.emit.module")

-- name -> shape of a model's inputs and outputs, with the sizes of a call.
local function shapes_of(more)
  local state, found = helper.tiny(more, "graph"), {}
  for _, list in ipairs { state.graph.entry.inputs, state.graph.entry.outputs } do
    for _, name in ipairs(list) do
      local tensor = state.graph.tensors[name]
      found[tensor.member .. (tensor.kind == "input" and "" or " out")] = emit_lengths.shape(tensor, state.spec, true)
    end
  end
  return found, state
end

describe("the shape of an array", function()
  it("has the sizes of a call, and those that never change", function()
    assert.same({ hidden = "[rows][16]", ["hidden out"] = "[rows][16]", ["p out"] = "[sequences][16]" },
      (shapes_of { seq = { 4, 8 }, mask = "padding",
        output = { { stage = "hidden" }, { stage = "pool", over = "mean", name = "p" } } }))
  end)

  it("is a list of numbers where calls have one size", function()
    local _, state = shapes_of { seq = 8, past = 3, mask = { "causal", "attention_mask" } }
    for _, input in ipairs(emit_module.values(state).inputs) do
      if input.name == "attention_mask" then assert.same({ "(1, 11)", "[1][11]" }, { input.sizes, input.shape }) end
    end
    local output = emit_module.values(state).outputs[1]
    assert.same({ "(1, 8, 16)", '("batch", "seq", 16)' }, { output.sizes, output.text_sizes })
    _, state = shapes_of { seq = 8, past = 3, mask = "causal", attention_output = "heads" }
    for _, each in ipairs(emit_module.values(state).outputs) do
      if each.name == "attention_0" then output = each end
    end
    assert.same({ "(1, 2, 8, 11)", '("batch", 2, "seq", "seq + 3")' }, { output.sizes, output.text_sizes })
  end)
end)

describe("the sizes of calls", function()
  it("are those of the entry, with what a text may not have", function()
    local _, state = shapes_of { seq = 8, batch = 2, mask = "attention_mask" }
    local values = emit_lengths.values(state)
    assert.same({ "{ 2, 8 }", 1, "NULL", false }, { values.sizes, values.least, values.exact, values.any })
    assert.equal("{ 0, 1, -1, ATTN2C_HIDES_NOTHING }, { 0, -1, 1, ATTN2C_HIDES_ZEROS }", values.input_axes)
    _, state = shapes_of { seq = 8, mask = { "padding", "key_padding", "additive" } }
    assert.equal("{ 0, 1, -1, ATTN2C_HIDES_NOTHING }, { 0, -1, -1, ATTN2C_HIDES_AFTER }, "
      .. "{ -1, 0, 1, ATTN2C_HIDES_NOTHING }, { 0, -1, 1, ATTN2C_HIDES_ONES }", emit_lengths.values(state).input_axes)
    _, state = shapes_of { seq = 8 }
    assert.equal('"its tokens see all others, and it has neither lengths nor attention_mask"',
      emit_lengths.values(state).exact)
  end)

  it("are those of the primary entry, whatever entries follow it", function()
    local state = helper.tiny({ mask = "padding" }, "graph")
    local lengths, module = emit_lengths.values(state), emit_module.values(state)
    local other = { name = "decode", sizes = { batch = 1, seq = 1 }, spec = {}, graph = { entry = {}, tensors = {} } }
    local model = setmetatable({ entries = { state.entries[1], other } }, { __index = state })
    assert.same(lengths, emit_lengths.values(model))
    assert.same(module, emit_module.values(model))
  end)
end)

describe("the header", function()
  it("says what a member may be", function()
    local header = helper.emitted(helper.tiny { seq = 8, mask = "padding" }, "tiny.h")
    assert.truthy(header:find("*lengths; /* [1], from 1 to 8 */", 1, true))
    header = helper.emitted(helper.tiny { seq = { 4, 8 }, mask = "padding" }, "tiny.h")
    assert.truthy(header:find("*lengths; /* [sequences], the rows of each, from 1 to 8 */", 1, true))
    assert.is_nil(header:find("tiny_forward_8", 1, true))
  end)
end)
