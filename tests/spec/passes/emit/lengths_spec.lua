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
    assert.same({ hidden = "[batch][seq][16]", lengths = "[batch]", mask_bias = "[seq][seq]",
      ["hidden out"] = "[batch][seq][16]" }, (shapes_of { seq = { 4, 8 }, mask = { "padding", "additive" } }))
  end)

  it("counts past keys where an array is about keys", function()
    local found, state = shapes_of { seq = { 4, 8 }, past = 3, mask = { "causal", "attention_mask" } }
    assert.same({ hidden = "[batch][seq][16]", attention_mask = "[batch][seq + 3]", past_keys_0 = "[batch][3][16]",
      past_values_0 = "[batch][3][16]", ["hidden out"] = "[batch][seq][16]", ["keys_0 out"] = "[batch][seq][16]",
      ["values_0 out"] = "[batch][seq][16]" }, found)
    local sizes = {}
    for _, input in ipairs(emit_module.values(state).inputs) do
      sizes[input.name] = input.sizes .. " " .. input.shape
    end
    assert.same({ hidden = '("batch", "seq", 16) [batch][seq][16]',
      attention_mask = '("batch", "seq + 3") [batch][seq + 3]', past_keys_0 = '("batch", 3, 16) [batch][3][16]',
      past_values_0 = '("batch", 3, 16) [batch][3][16]' }, sizes)
  end)

  it("is a list of numbers where calls have one size", function()
    local _, state = shapes_of { seq = 8, past = 3, mask = { "causal", "attention_mask" } }
    for _, input in ipairs(emit_module.values(state).inputs) do
      if input.name == "attention_mask" then assert.same({ "(1, 11)", "[1][11]" }, { input.sizes, input.shape }) end
    end
    local output = emit_module.values(state).outputs[1]
    assert.same({ "(1, 8, 16)", '("batch", "seq", 16)' }, { output.sizes, output.text_sizes })
  end)
end)

describe("the sizes of calls", function()
  it("are in the order of the entries, with the fewest tokens of a call", function()
    local _, state = shapes_of { seq = { 8, 4 }, batch = { 2, 1 }, mask = "attention_mask" }
    local values = emit_lengths.values(state)
    assert.equal("{ 1, 4 }, { 2, 4 }, { 1, 8 }, { 2, 8 }", values.sizes)
    assert.same({ 1, "NULL", 0 }, { values.least_seq, values.exact, values.past })
    assert.equal("{ 0, 1, -1, ATTN2C_FILL_LEAST }, { 0, -1, 1, ATTN2C_FILL_KEPT }", values.input_axes)
  end)

  it("are those of the primary entry and its family, whatever entries follow them", function()
    local state = helper.tiny({ seq = { 4, 8 }, mask = "padding" }, "graph")
    local lengths, module = emit_lengths.values(state), emit_module.values(state)
    local other = { name = "decode", sizes = { batch = 1, seq = 1 }, spec = {}, graph = { entry = {}, tensors = {} } }
    local model = setmetatable({ entries = { state.entries[1], state.entries[2], other } }, { __index = state })
    assert.same(lengths, emit_lengths.values(model))
    assert.same(module, emit_module.values(model))
  end)

  it("allow no shorter call where the model cannot mask what is missing", function()
    local _, state = shapes_of { seq = 8 }
    local values = emit_lengths.values(state)
    assert.same({ 8, '"its tokens see all others, and it has neither lengths nor attention_mask"' },
      { values.least_seq, values.exact })
  end)
end)

describe("the header", function()
  local header = helper.emitted(helper.tiny { seq = { 4, 8 }, mask = "padding" }, "tiny.h")

  it("has the whole model first, and entries at the end", function()
    local places = {}
    for _, text in ipairs { "} tiny_forward_in;", "int tiny_forward(", "tiny_descriptor;", "#define TINY_FORWARD_4_IN_",
        "} tiny_forward_4_in;", "int tiny_forward_4(", "#define TINY_FORWARD_8_IN_", "int tiny_forward_8(" } do
      places[#places + 1] = assert(header:find(text, 1, true), text)
    end
    local sorted = table.move(places, 1, #places, 1, {})
    table.sort(sorted)
    assert.same(sorted, places)
  end)

  it("says what a member may be, in a call of any size and in an entry", function()
    assert.truthy(header:find("*lengths; /* [batch], from 1 to seq */", 1, true))
    assert.truthy(header:find("*lengths; /* [1], from 1 to 4 */", 1, true))
  end)
end)
