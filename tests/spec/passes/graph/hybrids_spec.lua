-- hybrids_spec: the operations of layers that convolve, that share keys and values, that norm their values, and that
-- read tokens; and what a state keeps of them.
local helper = require("tests.spec.helper")

-- Returns the operations of a layer as "result = op(operands)", and the state.
local function ops_of(more, layer)
  local state, list = helper.tiny(more, "layout"), {}
  for _, op in ipairs(state.primary.graph.entry.ops) do
    local name = op.result.name:match("^l" .. layer .. "%.(.*)$")
    local names = {}
    for _, operand in ipairs { "x", "q", "k", "v", "a", "b", "ids" } do
      if op.operands[operand] then names[#names + 1] = op.operands[operand].name end
    end
    if name then list[#list + 1] = ("%s = %s(%s)"):format(name, op.op, table.concat(names, ", ")) end
  end
  return table.concat(list, "\n"), state
end

local writes = { context = 300, chunk = 20, mask = "causal", positions = "rope",
  input = { stage = "tokens", vocab = 9 }, output = { { stage = "vocabulary" } } }

local function with(more)
  local d = {}
  for _, list in ipairs { writes, more } do for key, value in pairs(list) do d[key] = value end end
  return d
end

-- Returns the parts of a state as texts.
local function parts_of(state)
  local list = {}
  for _, part in ipairs(state.kept.parts) do
    list[#list + 1] = ("%s %s %d %s"):format(part.name, part.form, part.rows_per_sequence, part.window or "-")
  end
  return list
end

describe("a layer that convolves", function()
  it("multiplies a projection by one before its convolution, and by one after it", function()
    local text, state = ops_of({ short_conv = 3, d_ff = 0, norm = "pre" }, 0)
    assert.equal([[
norm1 = layer_norm(in.hidden)
conv.b = linear(l0.norm1)
conv.c = linear(l0.norm1)
conv.x = linear(l0.norm1)
conv.rows = multiply(l0.conv.x, l0.conv.b)
conv.mixed = convolve_columns(l0.conv.rows)
conv.gated = multiply(l0.conv.mixed, l0.conv.c)
conv.out = linear(l0.conv.gated)
attn.sum = add(l0.conv.out, in.hidden)]], text)
    local weight = state.graph.tensors["l0.conv.weight"]
    assert.same({ { 1, 48 }, { 16, 1, 3 } }, { weight.shape, weight.from.stored[1].shape })
  end)

  it("keeps its rows in the state, with a window of its kernel", function()
    local _, state = ops_of(with { layers = { { short_conv = 3 }, {}, { short_conv = 5 } } }, 0)
    assert.same({ "l0.conv.rows state_values 192 0", "l1.attn.k_rotated state_keys 300 -",
      "l1.attn.v state_values 300 -", "l2.conv.rows state_values 192 1" }, parts_of(state))
    assert.same({ 2, 4 }, { state.kept.windows[1].left, state.kept.windows[2].left })
  end)
end)

describe("a layer that reads the keys of another", function()
  it("has queries only, and the part of the state is one", function()
    local layers = { {}, {}, { keys_of = 0 }, { keys_of = 1 } }
    local text, state = ops_of(with { layers = layers, d_ff = 0, qk_norm = "heads" }, 2)
    assert.truthy(text:find("attn.scores = scores(l2.attn.q_rotated, l0.attn.k_rotated)", 1, true), text)
    assert.truthy(text:find("attn.context = context(l0.attn.v)", 1, true), text)
    assert.is_nil(text:find("attn.k", 1, true) and text:find("linear%(l1[%w.]*%)\nattn.k"), text)
    assert.is_nil(state.graph.tensors["l2.attn.k.weight"])
    assert.equal(4, #parts_of(state))
    for number, key in ipairs { "l0.attn.k_rotated", "l1.attn.k_rotated" } do
      assert.equal(key, state.kept.parts[2 * number - 1].name)
    end
  end)

  it("appends rows of its own to these keys", function()
    for _, scoring in ipairs { "dot", "additive" } do
      local text = ops_of({ layers = 2, keys_of = 0, bias_kv = true, scoring = scoring }, 1)
      for _, line in ipairs { "k_extended = join(l0.attn.k, l1.attn.bias_k)",
        "v_extended = join(l0.attn.v, l1.attn.bias_v)", "scores(l1.attn.q, l1.attn.k_extended)",
        "context(l1.attn.v_extended)" } do
        assert.truthy(text:find(line, 1, true), text)
      end
    end
  end)

  it("has all heads, as has that layer, whatever factors of heads are 0", function()
    for _, more in ipairs { { layers = 2, keys_of = 0 }, { layers = { {}, { keys_of = 0 } } } } do
      more.head_mask = { { 0, 1 }, { 1, 1 } }
      local state = helper.state(helper.description(more), "graph")
      assert.equal(16, state.graph.tensors["l0.attn.k"].shape[3])
    end
  end)

  it("projects distances by the weights of these keys", function()
    local state = helper.state(helper.description { layers = 2, keys_of = 0, positions = { "learned", "disentangled" },
      position_projections = "shared" }, "graph")
    local formula = state.graph.tensors["l1.attn.distances_k"].formula
    assert.truthy(formula:find(" l0.attn.k.weight l0.attn.k.bias ", 1, true), formula)
    assert.truthy(state.graph.tensors["l1.attn.distances_q"].formula:find(" l1.attn.q.weight ", 1, true))
  end)

  it("may be all layers after one", function()
    local _, state = ops_of(with { layers = 3, keys_of = 0 }, 2)
    assert.same({ "l0.attn.k_rotated state_keys 300 -", "l0.attn.v state_values 300 -" }, parts_of(state))
  end)

  it("gives a part the widest window of its readers", function()
    local window = { window = { 9, 0 }, mask = { "causal", "window" }, keys_of = 0 }
    local _, state = ops_of(with { layers = { {}, window } }, 1)
    assert.equal("l0.attn.k_rotated state_keys 300 -", parts_of(state)[1])
    window.keys_of = nil
    _, state = ops_of(with { layers = { window, { keys_of = 0 } } }, 1)
    assert.equal("l0.attn.k_rotated state_keys 300 -", parts_of(state)[1])
  end)

  it("adds keys to the state once", function()
    local state = helper.tiny(with { layers = 3, keys_of = 1, threads = 2 }, "plan")
    local adds = {}
    for _, segment in ipairs(state.plan.segments) do
      for _, section in ipairs(segment.sections) do
        for _, region in ipairs(section.regions) do
          if region.kind == "attention" then adds[#adds + 1] = { region.open.adds, #region.partition[2] } end
        end
      end
    end
    assert.same({ { true, 2 }, { true, 2 }, { false, 1 } }, { adds[1], adds[2], adds[3] })
  end)
end)

describe("values", function()
  it("may have a norm, or be the keys with a norm", function()
    local text = ops_of({ values = "normed", layers = 1 }, 0)
    assert.truthy(text:find("attn.v = linear(in.hidden)\nattn.v_norm = rms_norm(l0.attn.v)", 1, true), text)
    local state
    text, state = ops_of({ values = "keys", qk_norm = "heads" }, 0)
    assert.truthy(text:find("attn.v_norm = rms_norm(l0.attn.k)", 1, true), text)
    assert.truthy(text:find("attn.k_norm = layer_norm(l0.attn.k)", 1, true), text)
    assert.is_nil(state.graph.tensors["l0.attn.v.weight"])
  end)
end)

describe("a layer", function()
  it("may have heads of another width, and scores by it", function()
    local _, state = ops_of({ positions = "rope", layers = { {}, { head_dim = 12 } } }, 1)
    local q = state.graph.tensors["l1.attn.q"]
    assert.same({ 1, 8, 24 }, q.shape)
    assert.same({ 1 / math.sqrt(12), 12 }, { state.spec.each[2].scale, state.spec.each[2].rope_dim })
  end)

  it("may be multiplied by a number for each column, as its last operation", function()
    local text = ops_of({ layer_scale = true }, 0)
    assert.equal("scaled = multiply(l0.norm2, l0.scale.weight)", text:match("[^\n]*$"))
  end)

  it("may have a second feed-forward, whose norm and activation are its own", function()
    local text = ops_of({ second_ff = 3, norm = "post", norm_kind = "rms", eps = 1e-3, bias = false }, 0)
    for _, line in ipairs { "ff.second.norm = layer_norm(l0.norm2)",
      "ff.second.act = activate(l0.ff.second.up)", "ff.second.sum = add(l0.ff.second.down, l0.norm2)" } do
      assert.truthy(text:find(line, 1, true), text)
    end
    local _, state = ops_of({ second_ff = 3 }, 0)
    local norm
    for _, op in ipairs(state.graph.entry.ops) do if op.result.name == "l0.ff.second.norm" then norm = op end end
    assert.equal(1e-5, norm and norm.attributes.eps)
  end)

  it("may read the tokens in columns of a table of all layers", function()
    local text, state = ops_of({ layers = 3, layer_inputs = 4, input = { stage = "tokens", vocab = 9 },
      positions = "none", norm = "pre" }, 1)
    assert.truthy(text:find("tokens.context = linear(input.embedded)", 1, true), text)
    assert.truthy(text:find("tokens.gated = multiply(l1.tokens.act, l1.tokens.sum)", 1, true), text)
    local view = state.graph.tensors["l1.tokens.weight"].from.views[1]
    assert.same({ 4, 4, 12, 9 }, { view.first, view.columns, view.row_step, view.rows })
    assert.near(math.sqrt(4) * math.sqrt(0.5), view.factor, 1e-12)
    view = state.graph.tensors["l1.tokens.context.weight"].from.views[1]
    assert.same({ 4 * 16, 4, 16 }, { view.first, view.rows, view.columns })
  end)
end)

describe("keys of such layers", function()
  local function refusal(more) return table.concat(helper.refusals(helper.description(more)), "\n") end

  it("are refused where they mean nothing", function()
    for message, more in pairs {
      ["layers.1.keys_of: 0, but the layer is number 0"] = { layers = { { keys_of = 0 }, {} } },
      ["layers.3.keys_of: layer 1 has no keys of its own"] = { layers = { {}, { keys_of = 0 }, { keys_of = 1 } } },
      ["layers.2.keys_of: layer 0 has no keys of its own"] = { layers = { { short_conv = 2 }, { keys_of = 0 } } },
      ["layers.2.keys_of: head_dim is 4, but 8 in layer 0"] = { layers = { {}, { keys_of = 0, head_dim = 4 } } },
      ["keys_of: 1, but there are 2 layers"] = { layers = 2, keys_of = 1 },
      ["past: does not go with keys_of"] = { layers = 2, keys_of = 0, past = 2 },
      ["layer_groups: does not go with keys_of"] = { layers = 2, keys_of = 0, layer_groups = { 0, 0 } },
      ["stages: does not go with keys_of"] = { layers = 2, keys_of = 0, stages = 2 },
      ["layer_inputs: goes with input = tokens"] = { layer_inputs = 4 },
      ["layer_inputs: does not go with layer_groups"] = { layer_inputs = 4, layers = 2, layer_groups = { 0, 0 },
        input = { stage = "tokens", vocab = 9 } },
      ["short_conv: does not go with past"] = { short_conv = 2, past = 2 },
      ["short_conv: does not go with head_mask"] = { short_conv = 2, head_mask = "input" },
      ["short_conv: does not go with attention_output"] = { layers = { {}, { short_conv = 2 } },
        attention_output = "heads" },
      ['short_conv: does not go with mask = "key_padding"'] = { layers = { { mask = "key_padding" },
        { short_conv = 2 } } },
      ["short_conv: does not go with input = qkv()"] = { short_conv = 2, input = { stage = "qkv" } },
    } do
      assert.truthy(refusal(more):find(message, 1, true), message .. "\n" .. refusal(more))
    end
    assert.equal("", refusal { layers = 3, keys_of = 1, mask = "padding", short_conv = 0 })
    assert.equal("", refusal { short_conv = 2, mask = "padding" })
  end)
end)
