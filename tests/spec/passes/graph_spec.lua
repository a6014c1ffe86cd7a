-- graph_spec: what is computed: tensors, shapes, order and flops of small models with each
-- option, against formulas.
local helper = require("tests.spec.helper")
local words = require("common.words")

local function graph(more) return helper.tiny(more, "graph") end

local equations = helper.equations

local function weights(state)
  local list = {}
  for _, name in ipairs(state.graph.weights) do
    list[#list + 1] = name .. " " .. words.shape(state.graph.tensors[name].shape)
  end
  return list
end

describe("the graph", function()
  it("of one post-norm layer is the transformer's", function()
    assert.same({
      "l0.attn.q = linear(in.hidden, l0.attn.q.weight, l0.attn.q.bias)",
      "l0.attn.k = linear(in.hidden, l0.attn.k.weight, l0.attn.k.bias)",
      "l0.attn.v = linear(in.hidden, l0.attn.v.weight, l0.attn.v.bias)",
      "l0.attn.scores = scores(l0.attn.q, l0.attn.k)",
      "l0.attn.weights = softmax(l0.attn.scores)",
      "l0.attn.context = context(l0.attn.weights, l0.attn.v)",
      "l0.attn.out = linear(l0.attn.context, l0.attn.out.weight, l0.attn.out.bias)",
      "l0.attn.sum = add(l0.attn.out, in.hidden)",
      "l0.norm1 = layer_norm(l0.attn.sum, l0.norm1.weight, l0.norm1.bias)",
      "l0.ff.up = linear(l0.norm1, l0.ff.up.weight, l0.ff.up.bias)",
      "l0.ff.act = activate(l0.ff.up)",
      "l0.ff.down = linear(l0.ff.act, l0.ff.down.weight, l0.ff.down.bias)",
      "l0.ff.sum = add(l0.ff.down, l0.norm1)",
      "l0.norm2 = layer_norm(l0.ff.sum, l0.norm2.weight, l0.norm2.bias)",
    }, equations(graph()))
  end)

  it("of a pre-norm layer norms what goes into each part and adds to what was not normed", function()
    local list = equations(graph({ norm = "pre", final_norm = true }))
    assert.equal("l0.norm1 = layer_norm(in.hidden, l0.norm1.weight, l0.norm1.bias)", list[1])
    assert.equal("l0.attn.q = linear(l0.norm1, l0.attn.q.weight, l0.attn.q.bias)", list[2])
    assert.equal("l0.attn.sum = add(l0.attn.out, in.hidden)", list[9])
    assert.equal("l0.norm2 = layer_norm(l0.attn.sum, l0.norm2.weight, l0.norm2.bias)", list[10])
    assert.equal("l0.ff.sum = add(l0.ff.down, l0.attn.sum)", list[14])
    assert.equal("final_norm = layer_norm(l0.ff.sum, final_norm.weight, final_norm.bias)", list[15])
    assert.equal(15, #list)
  end)

  it("of pre_ff norms before each part except the self-attention", function()
    local list = equations(graph({ norm = "pre_ff", memory = { seq = 4 } }))
    assert.equal("l0.attn.q = linear(in.hidden, l0.attn.q.weight, l0.attn.q.bias)", list[1])
    local norms = {}
    for _, line in ipairs(list) do norms[#norms + 1] = line:match("^(l0%.norm%S*) = layer_norm%(l0%.%a+%.sum,") end
    assert.same({ "l0.norm_cross", "l0.norm2" }, norms)
    list = equations(graph({ norm = "pre_ff", parallel = "two_norms" }))
    assert.equal("l0.attn.q = linear(in.hidden, l0.attn.q.weight, l0.attn.q.bias)", list[1])
    assert.equal("l0.norm2 = layer_norm(in.hidden, l0.norm2.weight, l0.norm2.bias)", list[9])
  end)

  it("of a sandwich norms before each part and after it, of res_post after it alone", function()
    local list = equations(graph({ norm = "sandwich" }))
    assert.equal("l0.norm1 = layer_norm(in.hidden, l0.norm1.weight, l0.norm1.bias)", list[1])
    assert.same({ "l0.norm1_after = layer_norm(l0.attn.out, l0.norm1_after.weight, l0.norm1_after.bias)",
      "l0.attn.sum = add(l0.norm1_after, in.hidden)",
      "l0.norm2 = layer_norm(l0.attn.sum, l0.norm2.weight, l0.norm2.bias)" }, table.move(list, 9, 11, 1, {}))
    assert.same({ "l0.norm2_after = layer_norm(l0.ff.down, l0.norm2_after.weight, l0.norm2_after.bias)",
      "l0.ff.sum = add(l0.norm2_after, l0.attn.sum)" }, table.move(list, 15, 16, 1, {}))
    list = equations(graph({ norm = "res_post" }))
    assert.equal("l0.attn.q = linear(in.hidden, l0.attn.q.weight, l0.attn.q.bias)", list[1])
    assert.same({ "l0.norm1 = layer_norm(l0.attn.out, l0.norm1.weight, l0.norm1.bias)",
      "l0.attn.sum = add(l0.norm1, in.hidden)", "l0.ff.up = linear(l0.attn.sum, l0.ff.up.weight, l0.ff.up.bias)" },
      table.move(list, 8, 10, 1, {}))
    assert.equal("l0.ff.sum = add(l0.norm2, l0.attn.sum)", list[#list])
  end)

  it("of parallel parts reads the same states in both, with two norms or one", function()
    local two = equations(graph({ norm = "pre", parallel = "two_norms" }))
    assert.equal("l0.norm2 = layer_norm(in.hidden, l0.norm2.weight, l0.norm2.bias)", two[10])
    assert.equal("l0.ff.sum = add(l0.ff.down, l0.attn.sum)", two[14])
    local one = equations(graph({ norm = "pre", parallel = "one_norm" }))
    assert.equal("l0.ff.up = linear(l0.norm1, l0.ff.up.weight, l0.ff.up.bias)", one[10])
    assert.equal("l0.ff.sum = add(l0.ff.down, l0.attn.sum)", one[13])
    assert.equal(13, #one)
    local without = equations(graph({ norm = "pre", parallel = "one_norm", residual = false }))
    assert.equal("l0.ff.sum = add(l0.ff.down, l0.attn.out)", without[#without])
    assert.equal("l0.attn.sum = add(l0.attn.out, in.hidden)",
      (function(list) return list[#list] end)(equations(graph({ norm = "pre", parallel = "two_norms", d_ff = 0 }))))
  end)

  it("has residual_scale in the weights that end a part, or in those of the norm after it", function()
    local function scaled(more)
      local tensors, list = graph(more).graph, {}
      for _, name in ipairs(tensors.weights) do
        for _, view in ipairs(tensors.tensors[name].from.views) do
          if view.factor ~= 1 then list[#list + 1] = ("%s %g"):format(name, view.factor) end
        end
      end
      return list
    end
    assert.same({ "l0.attn.out.weight 0.5", "l0.attn.out.bias 0.5", "l0.ff.down.weight 0.5", "l0.ff.down.bias 0.5" },
      scaled({ norm = "pre", residual_scale = 0.5 }))
    assert.same({ "l0.norm1_after.weight 2", "l0.norm1_after.bias 2", "l0.norm2_after.weight 2",
      "l0.norm2_after.bias 2" }, scaled({ norm = "sandwich", residual_scale = 2 }))
    assert.same({ "l0.attn.out.weight 3", "l0.attn.out.weight 3", "l0.attn.out.bias 3" },
      scaled({ heads = 4, head_mask = { { 1, 0, 1, 0 } }, residual_scale = 3, d_ff = 0 }))
    assert.same({}, scaled({}))
  end)

  it("scales and caps the scores of the vocabulary", function()
    local state = graph({ input = { stage = "tokens", vocab = 9, scale = 3 }, output = { { stage = "vocabulary",
      scale = 0.25, softcap = 30 } } })
    local list, tensors = equations(state), state.graph.tensors
    assert.equal("output.1.vocabulary.capped = softcap(output.1.vocabulary)", list[#list])
    assert.equal("logits", tensors["output.1.vocabulary.capped"].member)
    assert.truthy(words.set(list)["input.scaled = scale(input.embedded)"])
    local scaled = "output.1.vocabulary.scaled, output.1.vocabulary.weight"
    assert.truthy(words.set(list)["output.1.vocabulary = linear(" .. scaled .. ")"])
    for _, name in ipairs { "input.tokens.weight", "output.1.vocabulary.weight" } do
      assert.equal(1, tensors[name].from.views[1].factor)
      assert.equal(1 / (0.25 * 4), tensors[name].deviation)
    end
  end)

  it("without norms has none", function()
    local list = equations(graph({ norm = "none" }))
    assert.equal(12, #list)
    for _, line in ipairs(list) do assert.is_nil(line:find("norm", 1, true)) end
  end)

  it("has the weights of one layer, [outputs, inputs]", function()
    assert.same({
      "l0.attn.q.weight [6, 10]", "l0.attn.q.bias [6]", "l0.attn.k.weight [6, 10]", "l0.attn.k.bias [6]",
      "l0.attn.v.weight [6, 10]", "l0.attn.v.bias [6]", "l0.attn.out.weight [10, 6]", "l0.attn.out.bias [10]",
      "l0.norm1.weight [10]", "l0.norm1.bias [10]", "l0.ff.up.weight [7, 10]", "l0.ff.up.bias [7]",
      "l0.ff.down.weight [10, 7]", "l0.ff.down.bias [10]", "l0.norm2.weight [10]", "l0.norm2.bias [10]",
    }, weights(graph({ d_model = 10, heads = 2, head_dim = 3, d_ff = 7 })))
  end)

  it("drops each part's bias by itself", function()
    local parts = { qkv = { "l0.attn.q", "l0.attn.k", "l0.attn.v" }, out = { "l0.attn.out" },
      ff = { "l0.ff.up", "l0.ff.down" },
      norm = { "l0.norm1", "l0.norm2" } }
    for part, list in pairs(parts) do
      local state = graph({ bias = { [part] = false } })
      local without = words.set(list)
      for _, op in ipairs(state.graph.entry.ops) do
        if op.op == "linear" or op.op == "layer_norm" then
          assert.equal(not without[op.result.name], op.operands.bias ~= nil, op.result.name)
        end
      end
    end
    for _, name in ipairs(graph({ bias = false }).graph.weights) do assert.is_nil(name:match("bias$")) end
  end)

  it("says the mask to scores and context", function()
    local function mask(more)
      local state = graph(more)
      local scores, context = helper.op(state, "l0.attn.scores"), helper.op(state, "l0.attn.context")
      assert.same(scores.attributes, context.attributes)
      assert.equal(scores.operands.lengths, context.operands.lengths)
      return scores.attributes, scores.operands.lengths
    end
    assert.same({ heads = 2, causal = false, left = -1, right = -1 }, (mask()))
    assert.same({ heads = 2, causal = true, left = -1, right = -1 }, (mask { mask = "causal" }))
    assert.same({ heads = 2, causal = false, left = 2, right = 3 }, (mask { mask = { window = { 2, 3 } } }))
    local attributes, lengths = mask { mask = { "padding", "causal" }, batch = 3 }
    assert.same({ heads = 2, causal = true, left = -1, right = -1 }, attributes)
    assert.same({ 3 }, lengths.shape)
    assert.same({ "i32", 1, 9 }, { lengths.type, lengths.minimum, lengths.limit }) -- 1 to seq 8
    assert.is_nil(select(2, mask()))
  end)

  it("takes hidden states, features or tokens in", function()
    local hidden = graph({ batch = 2 })
    assert.same({ "in.hidden" }, hidden.graph.entry.inputs)
    assert.same({ 2, 8, 16 }, hidden.graph.tensors["in.hidden"].shape)
    local features = graph({ input = { stage = "linear", from = 5, bias = false } })
    assert.same({ "in.features" }, features.graph.entry.inputs)
    assert.equal("input.linear = linear(in.features, input.linear.weight)", equations(features)[1])
    local tokens = graph({ input = { stage = "tokens", vocab = 9 }, positions = "none" })
    local ids = tokens.graph.tensors["in.ids"]
    assert.same({ "i32", 0, 9 }, { ids.type, ids.minimum, ids.limit })
    assert.equal("input.embedded = embed(in.ids, input.tokens.weight)", equations(tokens)[1])
    assert.same({ 9, 16 }, tokens.graph.tensors["input.tokens.weight"].shape)
  end)

  it("adds positions to the input: a weight, or a constant that no checkpoint holds", function()
    local learned = graph({ positions = "learned" })
    assert.equal("input.states = add(in.hidden, input.positions.weight)", equations(learned)[1])
    assert.same({ 8, 16 }, learned.graph.tensors["input.positions.weight"].shape)
    local sinusoidal = graph({ positions = "sinusoidal" })
    local table_ = sinusoidal.graph.tensors["input.positions.sinusoidal"]
    assert.same({ "constant", "sinusoidal" }, { table_.kind, table_.formula })
    assert.is_nil(table_.rule)
    local behind = graph({ positions = "sinusoidal", past = 3 })
    assert.equal("sinusoidal 3", behind.graph.tensors["input.positions.sinusoidal"].formula)
    for sinusoids, formula in pairs { pairs = "sinusoidal 2", halves = "sinusoidal 2 1", fairseq = "sinusoidal 2 2" } do
      local later = graph({ positions = "sinusoidal", sinusoids = sinusoids, first_position = 2 })
      assert.equal(formula, later.graph.tensors["input.positions.sinusoidal"].formula)
    end
    for key, value in pairs { sinusoids = "halves", first_position = 2 } do
      assert.matches("^" .. key .. ": goes with positions = ", helper.refusals(helper.description {
        positions = "none", [key] = value })[1])
    end
  end)

  it("ends in probabilities or their logarithms, which have names of their own", function()
    for stage, name in pairs { softmax = "probabilities", log_softmax = "log_probabilities" } do
      local g = graph({ output = { { stage = "pool", over = "first" }, { stage = "linear", to = 5 },
        { stage = stage } } }).graph
      local result = g.tensors[g.entry.outputs[1]]
      assert.equal(name, result.member)
      assert.equal(5, result.shape[2])
    end
  end)

  it("gives the largest numbers and where they are, with the batch in front", function()
    local state = graph({ batch = 3, layout = "seq_first", output = { { stage = "linear", to = 5, name = "top" },
      { stage = "topk", k = 2 } } })
    local g, members = state.graph, {}
    for i, name in ipairs(g.entry.outputs) do
      local t = g.tensors[name]
      members[i] = ("%s %s %s %s"):format(t.member, t.type, words.shape(t.shape), t.grows)
    end
    assert.same({ "top f32 [8, 3, 5] sb.", "top_2 f32 [3, 8, 2] bs.", "top_2_index i32 [3, 8, 2] bs." }, members)
  end)

  it("runs the output's stages in order and names their results", function()
    local state = graph({ batch = 3, output = { { stage = "hidden" }, { stage = "pool", over = "last" },
      { stage = "linear", to = 4, activation = "tanh", name = "score" }, { stage = "sigmoid" },
        { stage = "argmax" } } })
    local list = equations(state)
    assert.same({
      "output.2.pool = pool(l0.norm2)",
      "output.3.linear = linear(output.2.pool, output.3.linear.weight, output.3.linear.bias)",
      "output.3.tanh = activate(output.3.linear)",
      "output.4.sigmoid = activate(output.3.tanh)",
      "output.5.argmax = argmax(output.4.sigmoid)",
    }, table.move(list, 15, 19, 1, {}))
    local members = {}
    for i, name in ipairs(state.graph.entry.outputs) do
      local tensor = state.graph.tensors[name]
      members[i] = ("%s %s %s %s"):format(tensor.member, name, tensor.type, words.shape(tensor.shape))
    end
    assert.same({ "hidden l0.norm2 f32 [3, 8, 16]", "score output.3.tanh f32 [3, 4]", "label output.5.argmax i32 [3]" },
      members)
  end)

  it("gives outputs different names where two would have the same", function()
    local function members(output)
      local state, list = graph({ output = output }), {}
      for i, name in ipairs(state.graph.entry.outputs) do list[i] = state.graph.tensors[name].member end
      return list
    end
    assert.same({ "hidden", "hidden_2" }, members { { stage = "hidden" }, { stage = "norm" } })
    assert.same({ "hidden_1", "hidden" }, members { { stage = "hidden" }, { stage = "norm", name = "hidden" } })
    assert.same({ "a", "b" }, members { { stage = "hidden", name = "a" }, { stage = "hidden", name = "b" } })
    assert.same({ "activations" }, members { { stage = "relu" } })
    assert.same({ "pooled" }, members { { stage = "pool", over = "mean" } })
  end)

  it("copies an input that is an output, and an output that is one twice", function()
    assert.same({ "output.hidden = copy(in.hidden)" }, equations(graph({ layers = 0 })))
    local list = equations(graph({ output = { { stage = "hidden", name = "a" }, { stage = "hidden", name = "b" } } }))
    assert.equal("output.b = copy(l0.norm2)", list[15])
  end)

  it("counts the flops of a model by formula", function()
    -- B S (2 D 3 W + 2 W D + 4 D F) a layer, and 4 B pairs W of scores and context; W = heads head_dim.
    for _, case in ipairs {
      { more = {}, pairs = 64 },
      { more = { mask = "causal" }, pairs = 36 },
      { more = { mask = { window = { 1, 0 } } }, pairs = 15 }, -- 1 + 7 x 2
      { more = { mask = { "causal", window = { 2, 5 } } }, pairs = 21 }, -- 1 + 2 + 6 x 3
      { more = { mask = "padding" }, pairs = 64 }, -- lengths are not known: nothing is removed
      { more = { batch = 3, layers = 4, head_dim = 5, d_ff = 9 }, pairs = 64, W = 10, F = 9, B = 3, L = 4 },
    } do
      local B, S, D, W, F, L = case.B or 1, 8, 16, case.W or 16, case.F or 64, case.L or 1
      local expected = L * (B * S * (8 * D * W + 4 * D * F) + 4 * B * case.pairs * W)
      assert.equal(expected, graph(case.more).graph.entry.flops)
    end
    local layers0 = graph({ layers = 0, input = { stage = "linear", from = 5 },
      output = { { stage = "pool", over = "max" },
      { stage = "linear", to = 3 } } })
    assert.equal(2 * 8 * 5 * 16 + 2 * 16 * 3, layers0.graph.entry.flops)
  end)

  it("scales the softmax as the spec says", function()
    assert.equal(1 / math.sqrt(8), helper.op(graph(), "l0.attn.weights").attributes.scale)
    assert.equal(1.0, helper.op(graph({ scale = false }), "l0.attn.weights").attributes.scale)
  end)

  it("takes the checkpoint's names from the scheme", function()
    local state = graph({ names = "torch" })
    local k = state.graph.tensors["l0.attn.k.weight"]
    assert.same({ "encoder.layers.0.self_attn.in_proj_weight", 2, 3 }, { k.rule.names[1], k.rule.part, k.rule.parts })
    assert.matches("weight l0.attn.k.weight %[16, 16%] from encoder.layers.0.self_attn.in_proj_weight part 2 of 3\n",
      require("passes.graph").dump(state))
  end)
end)
