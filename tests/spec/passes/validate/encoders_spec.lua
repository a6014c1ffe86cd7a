-- encoders_spec.lua: tests encoders beside decoders that go on: the sizes of their calls, what they take from the
-- model, and what is refused by name.
local encoded = require("tests.spec.encoded")
local helper = require("tests.spec.helper")

local described = encoded.description

local function refusals(of_encoder, more) return helper.refusals(described(of_encoder, more)) end

describe("an encoder with a context", function()
  it("has an entry of its own, before the decoder's", function()
    local state = helper.state(described({ d_model = 24, heads = 3 }, { sequences = 3 }), "validate")
    local names, spec = {}, state.spec
    for i, entry in ipairs(state.entries) do names[i] = entry.name end
    assert.same({ "encode", "forward" }, names)
    assert.equal("forward", state.primary.name)
    assert.same({ least = 1, seq = 24 }, spec.source)
    local encode = state.entries[1].spec
    assert.equal(spec, encode.decoder)
    assert.same({ 24, 24, 3, 24, 3 }, { encode.seq, encode.call_rows, encode.heads, encode.d_model, encode.sequences })
    assert.is_nil(encode.context)
  end)

  it("has the symbols of its rows, and the decoder that of a source", function()
    local state = helper.state(described(), "validate")
    local of = state.spec.symbols
    assert.same({ 1, 24, "slot" }, { of.source.least, of.source.most, of.source.set_by })
    local own = state.entries[1].spec.symbols
    assert.is_nil(own.source)
    assert.same({ true, 24, 24 }, { own.rows.is_open, own.rows.most, own.tokens.most })
    assert.is_false(own.past.is_open)
  end)

  it("takes what the model has, but no mask and no positions of an input", function()
    local state = helper.state(described(nil, { norm = "pre", activation = "relu", positions = "sinusoidal" }),
      "validate")
    local encode = state.entries[1].spec
    assert.same({ "pre", "relu", 16 }, { encode.norm, encode.activation, encode.d_model })
    assert.is_falsy(encode.mask.causal)
    assert.not_equal("sinusoidal", encode.positions)
  end)

  it("takes rows that callers give, token types, and no layers", function()
    assert.same({}, refusals { input = { stage = "hidden" } })
    assert.same({}, refusals { input = { stage = "linear", from = 5 } })
    assert.same({}, refusals { input = { stage = "tokens", vocab = 7, types = 2 } })
    assert.same({}, refusals { layers = 0 })
    assert.same({}, refusals { mask = { window = { 3, 4 } } })
    assert.same({}, refusals { positions = "t5" })
  end)

  it("reads pictures, or sources of one length, one a call", function()
    local image = { stage = "image", height = 4, width = 6, patch = 2 }
    for rows, keys in pairs { [7] = { seq = false, input = image }, [24] = { seq = 24, positions = "relative_key" } } do
      local state = helper.state(described(keys, { sequences = 3 }), "validate")
      local encode = state.entries[1].spec
      assert.same({ least = rows, seq = rows }, state.spec.source)
      assert.same({ rows, rows, rows, 1 }, { encode.seq, encode.call_rows, encode.least, encode.batch })
      assert.same({ false, false, rows }, { encode.symbols.rows.is_open, encode.symbols.past.is_open,
        encode.symbols.rows.most })
      assert.is_true(state.spec.symbols.source.is_open)
    end
  end)

  local HOW = "memory.seq: the encoder of a model with a context takes any(N), with the most rows of a source, or N, "
    .. "the rows of each; an integer from 2 to 32768"
  local refused = {
    { { seq = 1 }, HOW }, { { seq = { 12, 24 } }, HOW }, { { seq = { any = 1 } }, HOW }, { { seq = false }, HOW },
    { { seq = { any = "24" } }, HOW }, { { seq = { any = 2.5 } }, HOW }, { { seq = { any = 32769 } }, HOW },
    { { attention_output = "heads" },
      "memory.attention_output: outputs of an attention: not supported with seq = any(N)" },
    { { head_mask = "input" }, "memory.head_mask: factors of heads do not go with a context" },
    { { head_mask = { { 1, 0 } } }, "memory.head_mask: factors of heads do not go with a context" },
    { { input = { stage = "qkv" } }, "memory.input: qkv does not go with an encoder" },
    { { seq = { any = 5 }, input = { stage = "image", height = 4, width = 4, patch = 2 } },
      "memory.input: image, whose patches have one number: not supported with seq = any(N)" },
    { { seq = false, input = { stage = "image", height = 4, width = 4, patch = 4, class_token = false } },
      "memory.input: the image has 1 row, but 2 or more are expected" },
    { { seq = 24, mask = "padding" },
      "memory.mask: sources of one length have no padding; seq = any(N) takes shorter ones" },
    { { seq = 24, attention_output = "heads" },
      "memory.attention_output: outputs of an attention: not supported with a context" },
    { { input = { stage = "tokens", vocab = 7, padded = true } },
      "memory.input: padded tokens: not supported with seq = any(N), as the model sees the padding up to one length" },
    { { mask = "prefix", prefix = 3 }, "memory.prefix: a prefix: not supported with seq = any(N)" },
    { { mask = "key_padding" },
      "memory.mask: \"key_padding\": not supported with seq = any(N), whose sequences have no padding" },
    { { positions = "relative_key" }, "memory.positions: relative_key positions: not supported with seq = any(N)" },
    { { bias_kv = true }, "memory.bias_kv: learned keys: not supported with seq = any(N)" },
    { { scoring = "additive" }, "memory.scoring: additive scores: not supported with seq = any(N)" },
    { { context = 8 }, "memory: an encoder has no key \"context\"" },
    { nil, "stages: an encoder does not go with stages in a model with a context; ranks do",
      { layers = 2, stages = 2 } },
    { nil, "attention_output: outputs of an attention: not supported with a context", { attention_output = "heads" } },
    { nil, "inputs.source_ids: \"sequences\" is the name that a call of any size gives its number of sequences",
      { inputs = { source_ids = "sequences" } } },
    { nil, "kernels: kernels of libxsmm: not supported with a context", { kernels = "libxsmm" } },
    { nil, "head_mask: factors of heads do not go with a context", { head_mask = "input" } },
    { nil, "layers: a context needs a layer, whose keys it keeps", { layers = 0 } },
    { nil, "memory: a memory: not supported with a context; an encoder goes with a context", { memory = { seq = 8 } } },
  }

  for _, each in ipairs(refused) do
    it("is refused in one line: " .. each[2], function() assert.same({ each[2] }, refusals(each[1], each[3])) end)
  end

  it("has one size in a model without a context", function()
    local lines = refusals(nil, { context = false, seq = 12 })
    assert.equal(1, #lines, table.concat(lines, "\n"))
    assert.truthy(lines[1]:find("memory.seq", 1, true), lines[1])
  end)
end)
