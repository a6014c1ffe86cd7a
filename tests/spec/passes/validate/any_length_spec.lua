-- any_length_spec.lua: tests seq = any(512): its meaning, the keys that go with it, and the loops that it becomes.
local helper = dofile((debug.getinfo(1, "S").source:match("^@(.*)/passes/") or ".") .. "/helper.lua")
local instance = require("passes.checks.instance")
local pipeline = require("pipeline")

-- Returns the description { seq = any(most) } with more keys, as the language makes it.
local function any(most, more)
  local description = helper.description(more)
  description.seq = { any = most }
  return description
end

describe("any length", function()
  it("is an entry of the most tokens, without padding and without lengths", function()
    local state = helper.state(any(40, { mask = "padding" }), "graph")
    assert.are.equal(40, state.spec.seq)
    assert.is_true(state.spec.any)
    assert.are.same({ "in.hidden" }, state.graph.entry.inputs)
  end)

  it("takes only the most tokens of a sequence, and no batch", function()
    local function refusal(description)
      local ok, fault = pcall(helper.state, description, "validate")
      assert.is_false(ok)
      return fault.lines[1]
    end
    assert.are.equal("tiny.lua: seq: any(N) takes the most tokens of a sequence, an integer from 2 to 32768",
      refusal(any(1)))
    assert.are.equal("tiny.lua: seq: any(N) takes the most tokens of a sequence, an integer from 2 to 32768",
      refusal(any("8")))
    assert.are.equal("tiny.lua: seq: any(2), but pool \"second\" takes sequences of 2 tokens or more: write seq = 2, "
      .. "or any(N) with a larger N", refusal(any(2, { output = { { stage = "pool", over = "second" } } })))
    assert.are.equal("tiny.lua: batch: a model of any length takes any number of sequences in a call; leave batch out",
      refusal(any(8, { batch = 2 })))
    assert.are.equal("tiny.lua: past: past keys: not supported with seq = any(N)", refusal(any(8, { past = 2 })))
    assert.matches("input: padded tokens: not supported with seq = any%(N%), as the model sees the padding",
      refusal(any(8, { input = { stage = "tokens", vocab = 9, padded = true } })))
    assert.are.equal('tiny.lua: mask: "key_padding": not supported with seq = any(N), whose sequences have no padding',
      refusal(any(8, { mask = "key_padding" })))
    assert.are.equal("tiny.lua: inputs.hidden: \"sequences\" is the name that a call of any size gives its number of "
      .. "sequences", refusal(any(8, { inputs = { hidden = "sequences" } })))
  end)

  it("is named where a description says it in other words", function()
    local function said(text)
      local file = helper.file(("return { name = 'a', d_model = 16, heads = 2, layers = 1, seq = %s }"):format(text),
        "any.lua")
      local ok, fault = pcall(pipeline.run, helper.root, file, {}, "validate")
      assert.is_false(ok)
      return fault.lines[1]:match("any%.lua:[%d ]*(.*)$")
    end
    for _, text in ipairs { "any", '"any"', "{ any }", '{ "any" }', "any(8, 16)", '"any(512)"', "{ any(512) }",
      '"dynamic"', '"None"' } do
      assert.are.equal("seq: an integer from 1 to 32768, or a list of lengths, is allowed; any length is written "
        .. "any(512), with the most tokens of a sequence", said(text))
    end
    for _, text in ipairs { "any()", "any { 512 }", 'any "512"', "any(512.5)", "any(50000)" } do
      assert.are.equal("seq: any(N) takes the most tokens of a sequence, an integer from 2 to 32768", said(text))
    end
    assert.matches("called \"dynamic\" %(did you mean seq = any%(512%)%?%)", said("dynamic"))
  end)

  it("gives way to one length where a folder's model does not go with it", function()
    local notes = {}
    local function length_of(more)
      local spec = helper.state(any(40, more), "validate", { length = 32, notes = notes }).spec
      return spec.any and "any" or spec.seq
    end
    assert.are.equal("any", length_of())
    assert.are.same({}, notes)
    assert.are.equal(32, length_of { past = 4 })
    assert.are.equal(32, length_of { batch = 3 })
    assert.are.same({ "seq: 32 in place of any(40), seq=N changes it: past keys: not supported with seq = any(N)",
      "seq: 32 in place of any(40), seq=N changes it: a batch: calls of seq = any(N) have any number of sequences" },
      notes)
  end)

  it("has a loop over rows, one over sequences, and in that one loops over queries and keys", function()
    local state = helper.state(any(300), "lower")
    local found = {}
    for _, step in ipairs(state.programs[1].segments[1].sections[1].steps) do
      if step.form == "begin" then found[#found + 1] = step.loop end
    end
    assert.are.same({ "rows", "sequences", "panels", "heads", "queries", "seen", "rows" }, found)
  end)

  it("leaves out the keys that a mask hides from a block of queries", function()
    local state = helper.state(any(300, { mask = "causal" }), "plan")
    local region = state.plan.segments[1].sections[1].regions[2]
    assert.are.equal("attention", region.kind)
    assert.are.equal(0, region.open.right)
    assert.are.equal(-1, region.open.left)
  end)

  it("packs keys and values of bf16 in pairs, a panel at a time, and fuses products with maps", function()
    local state = helper.state(any(300, { precision = "bf16", target = "avx512bf16", mask = "causal" }))
    local program, found = state.programs[1], {}
    for _, step in ipairs(program.segments[1].sections[1].steps) do
      if step.fn and step.fn:find("^pairs") then found[#found + 1] = step.fn .. " " .. step.sizes.rows end
      if step.form == "product" and step.kernel.open == "n k" then found.inputs = step.sizes.k end
    end
    assert.are.same({ "pairs_of_bf16_keys panel", "pairs_of_bf16_rows panel", inputs = "width" }, found)
    local count = 0
    for _ in pairs(program.fused_kernels) do count = count + 1 end
    assert.are.equal(6, count)
  end)

  it("in int8 has quantised rows of a block, and sums of a strip on the stack", function()
    local state = helper.state(any(300, { precision = "int8", target = "avx2" }))
    local program, quantised = state.programs[1], 0
    for _, step in ipairs(program.segments[1].sections[1].steps) do
      if step.fn == "quantise" then
        quantised = quantised + 1
        assert.are.equal("rows", step.sizes.rows)
      end
    end
    assert.are.equal(4, quantised)
    for _, pair in pairs(program.fused_kernels) do assert.is_true(pair.is_local) end
  end)

  it("has no fused map that writes what a later strip reads", function()
    local state = helper.state(any(300, { precision = "bf16", target = "avx512bf16" }), "kernels")
    local program = state.programs[1]
    for product, pair in pairs(program.fused_kernels) do
      if not pair.is_local then
        for name, value in pairs(pair.map.arguments.y) do product.arguments.b[name] = value end
        product.arguments.b.offset = product.arguments.b.offset - 64 -- a row before
      end
    end
    local said = helper.defect(require("passes.checks").kernels, state)
    assert.matches("a map writes .* over what later strips read", said)
  end)

  it("has packed keys at equal distances from panel to panel", function()
    local state = helper.state(any(300, { precision = "bf16", target = "avx512bf16" }), "plan")
    local region = state.plan.segments[1].sections[1].regions[2]
    region.keys.key_block = 32
    assert.matches("has panels of other keys", helper.defect(require("passes.checks").plan, state))
    region.keys.key_block = 64
    local place = require("data.storage").forms.value_pairs.packed
    local each_key = place.each_key
    place.each_key = function(s) return each_key(s) + 1 end
    local message = helper.defect(require("passes.checks").plan, state)
    place.each_key = each_key
    assert.matches("@values from 64 on are not at equal distances", message)
  end)

  it("is checked as calls of sequences of several lengths", function()
    assert.has_no.errors(function()
      helper.state(any(300, { mask = { "causal", window = { 20, 0 } }, positions = "rope" }))
      helper.state(any(70, { positions = "alibi", output = { { stage = "pool", over = "mean" },
        { stage = "linear", to = 3 } } }))
      -- after a pool, rows as wide as the most tokens
      helper.state(any(16, { output = { { stage = "pool", over = "mean" } } }))
    end)
  end)

  it("is checked with several outputs, of which a caller may want some", function()
    assert.has_no.errors(function()
      helper.state(any(40, { output = { { stage = "hidden", name = "h" }, { stage = "pool", over = "mean" },
        { stage = "linear", to = 24, name = "a" }, { stage = "tanh" } } }))
    end)
  end)

  it("may have pooled outputs of as many numbers as the longest sequence has rows", function()
    assert.has_no.errors(function()
      helper.state(any(10, { output = { { stage = "pool", over = "mean" }, { stage = "linear", to = 10 } } }))
    end)
  end)

  it("is checked as calls of no fewer rows than a pool takes", function()
    assert.has_no.errors(function() helper.state(any(5, { output = { { stage = "pool", over = "second" } } })) end)
    local calls = instance.calls({ segments = {} }, { least = 2, call_rows = 5, symbols = { past = {} } })
    assert.is_true(#calls > 2)
    for _, call in ipairs(calls) do
      for i = 2, #call.first do assert.is_true(call.first[i] - call.first[i - 1] >= 2) end
    end
  end)

  it("has the scores of a sequence next to each other in the trace, head by head", function()
    local state, found = helper.state(any(40, { heads = 4 }), "lower"), {}
    for _, step in ipairs(helper.steps(state.programs[2])) do
      local y = step.arguments and step.arguments.y
      if y and y.buffer == "l0.attn.scores@trace" then found[#found + 1] = y end
    end
    local pitch = 40 * 4
    assert.are.equal(4, #found)
    for head, y in ipairs(found) do
      assert.are.equal(0, y.offset)
      assert.are.same({ first = 4 * pitch, keys = head > 1 and (head - 1) * pitch or nil, query = pitch }, y.terms)
    end
  end)
end)
