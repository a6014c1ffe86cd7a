-- validate_memory_spec: what the cross-attentions read, as a plain memory or an encoder with
-- keys of its own; and that no tangle of tables stops the validator.
local helper = require("tests.spec.helper")
local keys = require("data.keys")

local function spec(more) return helper.tiny(more, "validate").spec end

local function refusals(more) return helper.refusals(helper.description(more)) end

local function refusal(more)
  local lines = refusals(more)
  assert.equal(1, #lines, table.concat(lines, "\n"))
  return lines[1]
end

local function encoder(more)
  local result = { stage = "encoder", seq = 5 }
  for key, value in pairs(more or {}) do result[key] = value end
  return result
end

describe("a plain memory", function()
  it("is as wide as the model and without padding, unless told", function()
    assert.same({ seq = 4, width = 16, mask = "none" }, spec({ memory = { seq = 4 } }).memory)
    assert.same({ seq = 4096, width = 8192, mask = "key_padding" },
      spec({ memory = { seq = 4096, width = 8192, mask = "key_padding" } }).memory)
    assert.is_nil(spec().memory)
  end)

  it("is refused by its fields", function()
    assert.equal("memory.seq: missing: rows of the memory", refusal({ memory = {} }))
    assert.equal("memory.seq: 32769, but an integer from 1 to 32768 is allowed", refusal({ memory = { seq = 32769 } }))
    assert.equal("memory.width: 0, but an integer from 1 to 8192 is allowed",
      refusal({ memory = { seq = 4, width = 0 } }))
    assert.equal('memory.mask: "causal", but none, padding or key_padding is allowed',
      refusal({ memory = { seq = 4, mask = "causal" } }))
    assert.equal('memory: no field "with" (did you mean width?)', refusal({ memory = { seq = 4, with = 3 } }))
    assert.equal("memory: no field 1", refusal({ memory = { seq = 4, 5 } }))
    for value, shown in pairs { [5] = "5", none = '"none"', [true] = "true" } do
      assert.equal(("memory: %s, but { seq =, width =, mask = } or encoder { ... } is allowed"):format(shown),
        refusal({ memory = value }))
    end
    assert.same({ "memory.seq: missing: rows of the memory", 'memory: no field "stage"' },
      refusals({ memory = { stage = "hidden" } }))
  end)
end)

describe("an encoder", function()
  it("has the model's keys where it does not give its own, and what it needs of them", function()
    local s = spec({ norm = "pre", eps = 1e-3, layers = 3, d_ff = 20, bias = { ff = false }, mask = "causal",
      positions = "rope", memory = encoder() })
    local e = s.memory.encoder
    assert.same({ seq = 5, width = 16, mask = "none", encoder = e }, s.memory)
    assert.same({ "pre", 1e-3, 3, 20, 16, 2, 8 }, { e.norm, e.eps, e.layers, e.d_ff, e.d_model, e.heads, e.head_dim })
    assert.same({ q = true, k = true, v = true, out = true, up = false, down = false, norm = true }, e.bias)
    assert.same({ { causal = false, padding = false }, "rope", { stage = "hidden" }, 5, 0 },
      { e.mask, e.positions, e.input, e.max_position, e.past })
  end)

  it("has not the model's mask, positions of its input, outputs and factors of heads", function()
    local e = spec({ mask = { "padding", prefix = 2 }, mask_value = -1, positions = "learned", max_position = 9,
      input = { stage = "tokens", vocab = 9 }, attention_output = "heads", head_mask = "input",
      memory = encoder() }).memory.encoder
    assert.same({ { causal = false, padding = false }, "none", 5, { stage = "hidden" }, { kind = "none" },
      { kind = "none" } }, { e.mask, e.positions, e.max_position, e.input, e.attention_output, e.head_mask })
    assert.is_nil(e.mask_value)
  end)

  it("has sizes that follow from its own width and heads", function()
    local more = { d_ff = 20, head_dim = 5, scale = 0.5 }
    local s = spec({ d_ff = 20, head_dim = 5, scale = 0.5, memory = encoder({ d_model = 12, heads = 4 }) })
    local e = s.memory.encoder
    assert.same({ 3, 48, 1 / math.sqrt(3), 12 }, { e.head_dim, e.d_ff, e.scale, s.memory.width })
    more.memory = encoder()
    e = spec(more).memory.encoder
    assert.same({ 5, 20, 0.5 }, { e.head_dim, e.d_ff, e.scale })
  end)

  it("lets the cross-attention ignore what it ignores", function()
    assert.equal("padding", spec({ memory = encoder({ mask = "padding" }) }).memory.mask)
    assert.equal("key_padding", spec({ memory = encoder({ mask = { "causal", "key_padding" } }) }).memory.mask)
    assert.equal("none", spec({ memory = encoder({ mask = "causal" }) }).memory.mask)
  end)

  it("is as long as its image", function()
    local input = { stage = "image", height = 4, width = 4, patch = 2 }
    assert.equal(5, spec({ memory = { stage = "encoder", input = input } }).memory.seq)
    assert.equal("memory.seq: 6, but the image has 5 rows: its patches and the class token",
      refusal({ memory = encoder({ seq = 6, input = input }) }))
  end)

  it("is refused by its keys, each with memory before it", function()
    assert.equal("memory.seq: missing: tokens (frames) a sequence", refusal({ memory = { stage = "encoder" } }))
    assert.equal("memory.layers: -1, but an integer from 0 to 1000 or a list of tables, one a layer, is allowed",
      refusal({ memory = encoder({ layers = -1 }) }))
    assert.equal("memory: an encoder has no key \"head\" (did you mean heads?)",
      refusal({ memory = encoder({ head = 2 }) }))
    for _, key in ipairs { "memory", "output", "past", "batch", "name", "names", "target", "layout", "key_seq" } do
      assert.matches(('^memory: an encoder has no key "%s"'):format(key), refusal({ memory = encoder({ [key] = 1 }) }))
    end
    assert.equal("memory: an encoder has no key 1", refusal({ memory = encoder({ "tokens" }) }))
    assert.equal("memory.heads: d_model 16 is not divisible by heads 3, and head_dim is not given",
      refusal({ memory = encoder({ heads = 3 }) }))
    assert.equal("memory.mask: window without bounds; give window = { left, right }",
      refusal({ memory = encoder({ mask = "window" }) }))
    assert.equal("memory.mask.prefix: 0, but an integer from 1 to 32768 is allowed",
      refusal({ memory = encoder({ mask = { prefix = 0 } }) }))
    assert.equal("memory.head_mask.1: 1 factors, but one for each of 2 heads is expected",
      refusal({ memory = encoder({ head_mask = { { 1 } } }) }))
    assert.equal("memory.input.vocab: missing: rows of the table",
      refusal({ memory = encoder({ input = { stage = "tokens" } }) }))
    assert.equal("memory.input: qkv does not go with an encoder",
      refusal({ memory = encoder({ input = { stage = "qkv" } }) }))
    assert.equal('memory.mask_value: goes with mask = "padding" or "key_padding"',
      refusal({ memory = encoder({ mask_value = -1 }) }))
    assert.equal('memory.final_norm: does not go with norm = "none"',
      refusal({ final_norm = true, memory = encoder({ norm = "none" }) }))
    assert.equal("memory.width: without projections the memory must be as wide as d_model",
      refusal({ projections = false, memory = encoder({ d_model = 12, heads = 2 }) }))
  end)

  it("does not repeat what is wrong with a key that it has of the model", function()
    assert.same({ 'norm: "x", but post, pre, pre_ff, sandwich, res_post or none is allowed',
      "eps: 2, but a number from 1e-30 to 1 is allowed" },
      refusals({ norm = "x", eps = 2, memory = encoder() }))
    assert.same({ 'norm: "x", but post, pre, pre_ff, sandwich, res_post or none is allowed',
      'memory.norm: "y", but post, pre, pre_ff, sandwich, res_post or none is allowed' },
      refusals({ norm = "x", memory = encoder({ norm = "y" }) }))
    local lines = helper.refusals({ memory = encoder() })
    assert.equal(5, #lines, table.concat(lines, "\n"))
  end)
end)

describe("an override", function()
  local function overridden(text, overrides)
    local state = { root = helper.root, file = helper.file(text), overrides = overrides,
      host = function() return "avx2" end }
    local fault = helper.fault(function()
      require("passes.describe").run(state)
      require("passes.validate").run(state)
    end)
    return fault and fault.lines[1]:match("%.lua: (.*)$") or state.spec
  end
  local head = "return { name = 'a', d_model = 16, heads = 2, layers = 2, target = 'avx2', "

  after_each(helper.clean)

  it("reaches into nested tables, and makes those that are not there", function()
    local decoder = head .. "seq = 8, memory = encoder { seq = 4, input = tokens { vocab = 9 }, mask = 'padding' } }"
    local s = overridden(decoder, { "memory.seq=5", "memory.input.vocab=3", "memory.mask=none", "layers=1" })
    assert.same({ 5, 3, "none", 1, 1 },
      { s.memory.seq, s.memory.encoder.input.vocab, s.memory.mask, s.layers, s.memory.encoder.layers })
    assert.equal(7, overridden(head .. "seq = 8 }", { "memory.seq=7", "memory.mask=padding" }).memory.seq)
    assert.equal(17, overridden(head .. "input = image { height = 16, width = 16, patch = 8 } }",
      { "input.height=64" }).seq)
    assert.same({ { 1.0, 0.0 }, { 1.0, 1.0 } }, overridden(head .. "seq = 8, head_mask = { { 1, 1 }, { 1, 1 } } }",
      { "head_mask.1.2=0" }).head_mask.layers)
    assert.same({ causal = false, padding = true, window = { left = 1, right = 4 } },
      overridden(head .. "seq = 8, mask = { 'padding', window = { 1, 2 } } }", { "mask.window.2=4" }).mask)
  end)

  it("is judged as the description is", function()
    assert.equal("head_mask: 2 lists, but one for each of 1 layers is expected",
      overridden(head .. "seq = 8, head_mask = { { 1, 1 }, { 1, 1 } } }", { "layers=1" }))
    assert.equal("attention_output.layers: 1, but there are 1 layers, numbered from 0",
      overridden(head .. "seq = 8, attention_output = { layers = { 1 } } }", { "layers=1" }))
    assert.equal("memory.seq: 0, but an integer from 1 to 32768 is allowed",
      overridden(head .. "seq = 8, memory = encoder { seq = 4 } }", { "memory.seq=0" }))
    assert.equal('memory: an encoder has no key "width" (did you mean d_model?)',
      overridden(head .. "seq = 8, memory = encoder { seq = 4 } }", { "memory.width=4" }))
    assert.equal("input.patch: 8, but the image is 4 x 16",
      overridden(head .. "input = image { height = 16, width = 16, patch = 8 } }", { "input.height=4" }))
    assert.equal('input: tokens has no field "height"',
      overridden(head .. "seq = 8, input = tokens { vocab = 9 } }", { "input.height=32" }))
    assert.equal("memory.seq: missing: rows of the memory", overridden(head .. "seq = 8 }", { "memory.mask=padding" }))
  end)
end)

describe("a tangle", function()
  local function loop() return loop end
  local cyclic = { stage = "encoder", seq = 4 }
  cyclic.memory, cyclic.input, cyclic.mask, cyclic.head_mask, cyclic[1] = cyclic, cyclic, cyclic, cyclic, cyclic
  local hostile = { 0 / 0, math.huge, -math.huge, math.maxinteger, math.mininteger, -1, 1.5, 1e300, "", "\0\n%s",
    ("x"):rep(100000), true, false, loop, {}, cyclic, { cyclic }, { [3] = 1 }, { { {} } }, { stage = 5 },
    { stage = "encoder" }, { stage = "qkv" }, { stage = "image", height = 1e300, width = 0 / 0, patch = loop },
    { [loop] = 1, [1.5] = 1, [true] = 1 }, { window = {}, prefix = {} }, { layers = { -1, loop, cyclic } },
    { kind = {}, scores = {} } }

  local function is_told(description)
    for _, line in ipairs(helper.refusals(description)) do
      assert.is_nil(line:find("%c"), line)
      assert.is_true(#line < 500, line)
    end
  end

  it("in an encoder's keys or a memory's fields is refused like any other", function()
    for _, value in ipairs(hostile) do
      for _, field in ipairs(keys.of_stack) do
        is_told(helper.description({ memory = encoder({ [field.key] = value }) }))
      end
      for _, field in ipairs { "seq", "width", "mask", "stage", 1 } do
        is_told(helper.description({ memory = { seq = 4, [field] = value } }))
      end
      is_told(helper.description({ memory = value }))
    end
  end)

  it("in the fields of an input or an output stage is refused like any other", function()
    for _, value in ipairs(hostile) do
      for stage, constructor in pairs(require("data.stages").constructors) do
        for name in pairs(constructor.fields) do
          is_told(helper.description({ input = { stage = stage, [name] = value } }))
          is_told(helper.description({ output = { { stage = stage, [name] = value } } }))
        end
      end
    end
  end)

  it("in two keys at once is refused like any other", function()
    math.randomseed(5)
    for _ = 1, 3000 do
      local more = {}
      for _ = 1, 2 do more[keys.list[math.random(#keys.list)].key] = hostile[math.random(#hostile)] end
      is_told(helper.description(more))
    end
  end)
end)
