-- graph_attention_spec: what each kind of attention, of positions, masks and inputs computes:
-- the ops, names and shapes that its definition asks for.
local helper = require("tests.spec.helper")
local words = require("common.words")

local equations = helper.equations

local function graph(more) return helper.tiny(more, "graph") end

local function shape(state, name) return words.shape(state.graph.tensors[name].shape) end

local function attributes(state, name) return helper.op(state, name).attributes end

-- "member type [shape]" of each input or output.
local function members(state, which)
  local list = {}
  for i, name in ipairs(state.graph.entry[which]) do
    local t = state.graph.tensors[name]
    list[i] = ("%s %s %s"):format(t.member, t.type, words.shape(t.shape))
  end
  return list
end

describe("keys that are not a sequence's own:", function()
  it("a past stands before the new ones, which go out", function()
    local state = graph({ batch = 2, past = 4, mask = "causal", kv_heads = 1 })
    assert.same({ "hidden f32 [2, 8, 16]", "past_keys_0 f32 [2, 4, 8]", "past_values_0 f32 [2, 4, 8]" },
      members(state, "inputs"))
    assert.same({ "hidden f32 [2, 8, 16]", "keys_0 f32 [2, 8, 8]", "values_0 f32 [2, 8, 8]" },
      members(state, "outputs"))
    assert.same({
      "l0.attn.all_keys = join(in.past_keys_0, l0.attn.k)", "l0.attn.all_values = join(in.past_values_0, l0.attn.v)",
      "l0.attn.scores = scores(l0.attn.q, l0.attn.all_keys)", "l0.attn.weights = softmax(l0.attn.scores)",
      "l0.attn.context = context(l0.attn.weights, l0.attn.all_values)",
    }, table.move(equations(state, "^l0%.attn"), 4, 8, 1, {}))
    assert.equal("[2, 2, 8, 12]", shape(state, "l0.attn.scores"))
    assert.same({ heads = 2, causal = true, left = -1, right = -1, offset = 4 }, attributes(state, "l0.attn.scores"))
  end)

  it("a past comes in, and new ones go out, by head where kv_layout says so", function()
    local state = graph({ batch = 2, past = 4, kv_heads = 2, kv_layout = "heads_first", layout = "seq_first" })
    assert.same({ "hidden f32 [8, 2, 16]", "past_keys_0 f32 [2, 2, 4, 8]", "past_values_0 f32 [2, 2, 4, 8]" },
      members(state, "inputs"))
    assert.same({ "hidden f32 [8, 2, 16]", "keys_0 f32 [2, 2, 8, 8]", "values_0 f32 [2, 2, 8, 8]" },
      members(state, "outputs"))
    assert.same({
      "l0.attn.keys_by_head = split_heads(l0.attn.k)", "l0.attn.all_keys = join(in.past_keys_0, l0.attn.k)",
      "l0.attn.values_by_head = split_heads(l0.attn.v)", "l0.attn.all_values = join(in.past_values_0, l0.attn.v)",
    }, table.move(equations(state, "^l0%.attn"), 4, 7, 1, {}))
    assert.equal("[2, 12, 16]", shape(state, "l0.attn.all_keys"))
    assert.same({ "b...", "b.s." }, { state.graph.tensors["in.past_keys_0"].grows,
      state.graph.tensors["l0.attn.keys_by_head"].grows })
  end)

  it("keys and values of qkv() that nothing projects come in by head, too", function()
    local keys = { input = { stage = "qkv" }, batch = 2, kv_heads = 1, kdim = 8, vdim = 6, residual = false, d_ff = 0,
      norm = "none", projections = { q = true, k = false, v = false, out = true }, kv_layout = "heads_first" }
    local state = graph(keys)
    assert.same({ "query f32 [2, 8, 16]", "key f32 [2, 1, 8, 8]", "value f32 [2, 1, 8, 6]" }, members(state, "inputs"))
    assert.same({ "input.key = join(in.key)", "input.value = join(in.value)" }, equations(state, "^input"))
    assert.equal("b.s.", state.graph.tensors["in.key"].grows)
    keys.projections, keys.vdim, keys.key_seq = { k = true, v = false }, 8, 5
    state = graph(keys)
    assert.same({ "query f32 [2, 8, 16]", "key f32 [2, 5, 8]", "value f32 [2, 1, 5, 8]" }, members(state, "inputs"))
    assert.equal("b...", state.graph.tensors["in.value"].grows)
  end)

  it("a past is of rotated keys, and its positions come first", function()
    local state = graph({ past = 4, positions = "rope" })
    assert.same({
      "l0.attn.q_rotated = rotate(l0.attn.q, positions.cos_8, positions.sin_8)",
      "l0.attn.k_rotated = rotate(l0.attn.k, positions.cos_8, positions.sin_8)",
      "l0.attn.all_keys = join(in.past_keys_0, l0.attn.k_rotated)",
      "l0.attn.all_values = join(in.past_values_0, l0.attn.v)",
    }, table.move(equations(state, "^l0%.attn"), 4, 7, 1, {}))
    assert.equal("rope_cos 10000 4", state.graph.tensors["positions.cos_8"].formula)
    assert.same({ rows = 12, first = 4 },
      graph({ past = 4, positions = "learned" }).graph.tensors["input.positions.weight"].source)
  end)

  it("lengths after a past are of the new keys", function()
    local state = graph({ past = 4, mask = "padding" })
    assert.equal(9, state.graph.tensors["in.lengths"].limit) -- 1 to 8
    assert.equal(4, attributes(state, "l0.attn.scores").offset)
    assert.equal(4, attributes(graph({ past = 4, mask = "padding", mask_value = -5 }), "l0.attn.padded").offset)
  end)

  it("learned ones and zeros come last, seen by all", function()
    local state = graph({ batch = 3, bias_kv = true, zero_attn = true, mask = "key_padding" })
    assert.same({
      "l0.attn.k_extended = join(l0.attn.k, l0.attn.bias_k)", "l0.attn.v_extended = join(l0.attn.v, l0.attn.bias_v)",
      "l0.attn.scores = scores(l0.attn.q, l0.attn.k_extended)",
      "l0.attn.key_padding = block_array(l0.attn.scores, in.key_padding)",
      "l0.attn.weights = softmax(l0.attn.key_padding)",
      "l0.attn.context = context(l0.attn.weights, l0.attn.v_extended)",
    }, table.move(equations(state, "^l0%.attn"), 4, 9, 1, {}))
    assert.same({ batch = 3, zeros = 1 }, attributes(state, "l0.attn.k_extended"))
    assert.same({ "[3, 10, 16]", "[1, 16]", "[3, 2, 8, 10]", "[3, 8]" }, { shape(state, "l0.attn.k_extended"),
      shape(state, "l0.attn.bias_k"), shape(state, "l0.attn.scores"), shape(state, "in.key_padding") })
    assert.equal(2, attributes(state, "l0.attn.scores").extra)
    local zeros = graph({ zero_attn = true })
    assert.equal("l0.attn.k_extended = join(l0.attn.k)", equations(zeros, "k_extended$")[1])
    assert.equal(1, attributes(zeros, "l0.attn.context").extra)
  end)
end)

describe("a cross-attention", function()
  it("stands between self-attention and feed-forward, with a norm of its own", function()
    local state = graph({ batch = 2, norm = "pre", memory = { seq = 5, width = 12, mask = "padding" } })
    assert.same({ "memory f32 [2, 5, 12]", "memory_lengths i32 [2]", "hidden f32 [2, 8, 16]" },
      members(state, "inputs"))
    assert.same({
      "l0.norm_cross = layer_norm(l0.attn.sum, l0.norm_cross.weight, l0.norm_cross.bias)",
      "l0.cross.q = linear(l0.norm_cross, l0.cross.q.weight, l0.cross.q.bias)",
      "l0.cross.k = linear(in.memory, l0.cross.k.weight, l0.cross.k.bias)",
      "l0.cross.v = linear(in.memory, l0.cross.v.weight, l0.cross.v.bias)",
      "l0.cross.scores = scores(l0.cross.q, l0.cross.k, in.memory_lengths)",
      "l0.cross.weights = softmax(l0.cross.scores)",
      "l0.cross.context = context(l0.cross.weights, l0.cross.v, in.memory_lengths)",
      "l0.cross.out = linear(l0.cross.context, l0.cross.out.weight, l0.cross.out.bias)",
      "l0.cross.sum = add(l0.cross.out, l0.attn.sum)",
      "l0.norm2 = layer_norm(l0.cross.sum, l0.norm2.weight, l0.norm2.bias)",
    }, table.move(equations(state), 10, 19, 1, {}))
    assert.same({ "[16, 12]", "[2, 2, 8, 5]" },
      { shape(state, "l0.cross.k.weight"), shape(state, "l0.cross.scores") })
  end)

  it("has neither the mask, the past, the positions nor the factors of the self-attention", function()
    local state = graph({ mask = { "causal", "additive" }, past = 2, positions = "alibi", bias_kv = true,
      head_mask = { { 0, 1 } }, memory = { seq = 5 } })
    assert.same({ "l0.cross.scores = scores(l0.cross.q, l0.cross.k)", "l0.cross.weights = softmax(l0.cross.scores)",
      "l0.cross.context = context(l0.cross.weights, l0.cross.v)" },
      table.move(equations(state, "^l0%.cross"), 4, 6, 1, {}))
    assert.same({ heads = 2, causal = false, left = -1, right = -1 }, attributes(state, "l0.cross.scores"))
    assert.equal("[16, 16]", shape(graph({ head_mask = { { 0, 1 } }, memory = { seq = 5 } }), "l0.cross.q.weight"))
  end)

  it("reads an encoder's result, and ignores what the encoder does", function()
    local state = graph({ memory = { stage = "encoder", seq = 5, input = { stage = "tokens", vocab = 9 },
      mask = "key_padding", final_norm = true } })
    assert.same({ "source_ids i32 [1, 5]", "source_key_padding i32 [1, 5]", "hidden f32 [1, 8, 16]" },
      members(state, "inputs"))
    assert.equal("encoder.input.embedded = embed(in.source_ids, encoder.input.tokens.weight)", equations(state)[1])
    assert.equal("l0.cross.k = linear(encoder.final_norm, l0.cross.k.weight, l0.cross.k.bias)",
      equations(state, "^l0%.cross%.k$")[1])
    assert.equal("l0.cross.key_padding = block_array(l0.cross.scores, in.source_key_padding)",
      equations(state, "^l0%.cross%.key_padding$")[1])
    local function section(name) return helper.op(state, name).section end
    assert.same({ "encoder input", "encoder layer 0", "encoder output" },
      { section("encoder.input.states"), section("encoder.l0.attn.q"), section("encoder.final_norm") })
    assert.is_nil(state.graph.tensors["final_norm"])
  end)
end)

describe("heads", function()
  it("are computed where layers with the same weights differ in which factors are 0", function()
    local more = { layers = 2, heads = 4, layer_groups = { 0, 0 }, head_mask = { { 0, 1, 0, 1 }, { 1, 0, 1, 1 } } }
    assert.equal("[16, 16]", shape(graph(more), "l0.attn.q.weight"))
    more.head_mask[2] = { 0, 2, 0, 1 }
    assert.equal("[8, 16]", shape(graph(more), "l0.attn.q.weight"))
  end)

  it("whose constant factor is 0 are left out of the products, and their weights", function()
    local state = graph({ layers = 2, heads = 4, head_mask = { { 0, 2, 0, 1 }, { 1, 1, 1, 1 } } })
    assert.same({ "[8, 16]", "[8]", "[16, 8]", "[16]" }, { shape(state, "l0.attn.k.weight"),
      shape(state, "l0.attn.k.bias"), shape(state, "l0.attn.out.weight"), shape(state, "l0.attn.out.bias") })
    local tensors = state.graph.tensors
    assert.same({ heads = { 1, 3 }, all = 4, axis = 1 }, tensors["l0.attn.k.weight"].source)
    assert.same({ heads = { 1, 3 }, all = 4, axis = 1 }, tensors["l0.attn.k.bias"].source)
    assert.same({ heads = { 1, 3 }, all = 4, axis = 2 }, tensors["l0.attn.out.weight"].source)
    assert.same({}, tensors["l0.attn.out.bias"].source)
    assert.equal("l0.attn.masked = head_scale(l0.attn.weights, l0.attn.factors)", equations(state, "masked$")[1])
    assert.same({ 2.0, 1.0 }, tensors["l0.attn.factors"].values)
    assert.equal("list 2 1", tensors["l0.attn.factors"].formula)
    assert.same({ "[1, 2, 8, 8]", "[1, 4, 8, 8]" }, { shape(state, "l0.attn.scores"), shape(state, "l1.attn.scores") })
    assert.equal(1, #equations(state, "masked$")) -- the second layer's factors are all 1
  end)

  it("stay where something else has a part for each of them, or all factors are 0", function()
    for _, more in ipairs { { past = 1 }, { bias_kv = true }, { scoring = "additive" }, { positions = "alibi" },
      { positions = "t5" }, { mask = "additive_heads" }, { mask = "blocked_heads" }, { attention_output = "mean" },
      { attention_output = { kind = "none", scores = true } }, { heads = 4, kv_heads = 2 } } do
      local heads = more.heads or 2
      more.head_mask = { { 0, 1, 1, 1 } }
      more.head_mask[1] = table.move(more.head_mask[1], 1, heads, 1, {})
      local state = graph(more)
      assert.equal("[16, 16]", shape(state, "l0.attn.q.weight"))
      assert.equal(0.0, state.graph.tensors["l0.attn.factors"].values[1])
    end
    assert.same({ 0.0, 0.0 }, graph({ head_mask = { { 0, 0 } } }).graph.tensors["l0.attn.factors"].values)
  end)

  it("have factors that come in, a row a layer", function()
    local state = graph({ layers = 2, head_mask = "input" })
    assert.same({ "hidden f32 [1, 8, 16]", "head_mask f32 [2, 2]" }, members(state, "inputs"))
    assert.equal("l1.attn.masked = head_scale(l1.attn.weights, in.head_mask)", equations(state, "masked$")[2])
    assert.equal(1, attributes(state, "l1.attn.masked").layer)
    assert.same({ "hidden f32 [1, 8, 16]" }, members(graph({ layers = 0, head_mask = "input" }), "inputs"))
  end)

  it("of keys and values are fewer", function()
    local state = graph({ kv_heads = 1 })
    assert.same({ "[8, 16]", "[16, 16]", "[1, 8, 16]" }, { shape(state, "l0.attn.v.weight"),
      shape(state, "l0.attn.q.weight"), shape(state, "l0.attn.context") })
    assert.equal(1, attributes(state, "l0.attn.context").kv_heads)
    assert.is_nil(attributes(graph(), "l0.attn.context").kv_heads)
  end)
end)

describe("positions", function()
  it("of T5 are one table of buckets for all layers, added to scaled scores", function()
    local state = graph({ layers = 2, positions = "t5", t5_buckets = 16 })
    assert.same({ "positions.table = bucket_table(positions.bias.weight, positions.buckets)" },
      equations(state, "^positions"))
    assert.same({ "[16, 2]", "[15]", "[2, 15]" }, { shape(state, "positions.bias.weight"),
      shape(state, "positions.buckets"), shape(state, "positions.table") }) -- 8 + 8 - 1 distances
    for i = 0, 1 do
      assert.same({ ("l%d.attn.scaled = scale(l%d.attn.scores)"):format(i, i),
        ("l%d.attn.placed = add_distance(l%d.attn.scaled, positions.table)"):format(i, i),
        ("l%d.attn.weights = softmax(l%d.attn.placed)"):format(i, i) },
        table.move(equations(state, "^l" .. i .. "%.attn"), 5, 7, 1, {}))
      assert.equal(1.0, attributes(state, ("l%d.attn.weights"):format(i)).scale)
    end
    state = graph({ layers = 2, positions = "t5", t5_by_layer = true })
    assert.same({ "l1.attn.positions.table = bucket_table(l1.attn.positions.bias.weight, positions.buckets)",
      "l1.attn.placed = add_distance(l1.attn.scaled, l1.attn.positions.table)" },
      { equations(state, "^l1.attn.positions")[1], equations(state, "^l1.attn.placed")[1] }, "a table of its own")
    state = graph({ d_model = 32, heads = 4, layers = 2, box_buckets = 8, box_distance = 20,
      input = { stage = "tokens", vocab = 9, boxes = 30, place_width = 5 } })
    assert.same({ "l1.attn.boxed = add_places(l1.attn.scaled, in.boxes, places.across.table, places.down.table)" },
      equations(state, "l1%.attn%.boxed"))
    assert.same({ "t5_buckets 8 20 1 -20", "4 41" }, { state.graph.tensors["places.buckets"].formula,
      table.concat(state.graph.tensors["places.down.table"].shape, " ") })
    state = graph({ d_model = 32, heads = 4, box_buckets = 8, box_distance = 20, positions = { "learned", "t5" },
      mask = "padding", input = { stage = "tokens", vocab = 9, boxes = 30, place_width = 5 }, memory = {
        stage = "encoder", joined = true, layers = 0, input = { stage = "image", height = 4, width = 6, patch = 2 } },
      output = { { stage = "pool", over = "own" } } })
    assert.same({ "joined.places = page_places(in.boxes)", "joined.rows = join(input.placed_states, "
      .. "encoder.input.states)", "joined.norm = layer_norm(joined.rows, joined.norm.weight, joined.norm.bias)" },
      equations(state, "^joined"), "a picture's rows follow")
    assert.same({ "l0.attn.boxed = add_places(l0.attn.scaled, joined.places, places.across.table, places.down.table, "
      .. "positions.table)" }, equations(state, "boxed"))
    assert.same({ "[4, 257]", "[1, 15, 4]", 7, "[1, 8, 32]" }, { shape(state, "positions.table"),
      shape(state, "joined.places"), attributes(state, "l0.attn.scores").extra, shape(state, "output.1.own") })
    state = graph({ layers = 2, positions = { "convolution", "t5" }, position_gate = true })
    assert.same({ "l1.attn.gate = position_gates(l0.norm2, l1.attn.gate.weight, l1.attn.gate.bias, "
      .. "l1.attn.gate.factors)", "l1.attn.placed = add_gated(l1.attn.scaled, positions.table, l1.attn.gate)" },
      { equations(state, "^l1.attn.gate")[1], equations(state, "^l1.attn.placed")[1] }, "times a gate of the states")
    assert.same({ "[8, 8]", "[2]" }, { shape(state, "l1.attn.gate.weight"), shape(state, "l1.attn.gate.factors") })
    state = graph({ layers = 2, positions = "t5", t5_buckets = 16 })
    assert.equal("t5_buckets 16 128 1 -7", state.graph.tensors["positions.buckets"].formula)
    assert.equal("t5_buckets 32 128 0 -9",
      graph({ positions = "t5", mask = "causal", past = 2 }).graph.tensors["positions.buckets"].formula)
  end)

  it("of ALiBi are a constant a head and distance", function()
    local state = graph({ positions = "alibi", past = 2 })
    local table_ = state.graph.tensors["positions.alibi"]
    assert.same({ "constant", "alibi -9", { 2, 17 } }, { table_.kind, table_.formula, table_.shape }) -- 8 + 10 - 1
    assert.equal("l0.attn.placed = add_distance(l0.attn.scaled, positions.alibi)", equations(state, "placed$")[1])
    assert.is_nil(graph({ positions = "alibi", layers = 0 }).graph.tensors["positions.alibi"])
  end)

  it("that rotate turn queries and keys, not values", function()
    local state = graph({ positions = "rope", rope_dim = 4, rope_theta = 500, rope_style = "pairs", kv_heads = 1 })
    assert.same({ heads = 2, pairs = true }, attributes(state, "l0.attn.q_rotated"))
    assert.same({ heads = 1, pairs = true }, attributes(state, "l0.attn.k_rotated"))
    assert.same({ "[8, 2]", "rope_sin 500 0" },
      { shape(state, "positions.sin_8"), state.graph.tensors["positions.sin_8"].formula })
    assert.equal("l0.attn.scores = scores(l0.attn.q_rotated, l0.attn.k_rotated)", equations(state, "scores$")[1])
    assert.equal("l0.attn.context = context(l0.attn.weights, l0.attn.v)", equations(state, "context$")[1])
  end)

  it("rotate queries and keys after their norms, of each head or of all together", function()
    local state = graph({ positions = "rope", kv_heads = 1, qk_norm = "heads" })
    assert.equal("l0.attn.q_rotated = rotate(l0.attn.q_norm, positions.cos_8, positions.sin_8)",
      equations(state, "q_rotated$")[1])
    assert.same({ 2, 1 }, { attributes(state, "l0.attn.q_norm").heads, attributes(state, "l0.attn.k_norm").heads })
    assert.same({ "[8]", "[8]" }, { shape(state, "l0.attn.q_norm.weight"), shape(state, "l0.attn.k_norm.bias") })
    state = graph({ positions = "rope", rope_dim = 0, kv_heads = 1, qk_norm = "all", norm_kind = "rms" })
    assert.equal("l0.attn.scores = scores(l0.attn.q_norm, l0.attn.k_norm)", equations(state, "scores$")[1])
    assert.same({ "[16]", "[8]" }, { shape(state, "l0.attn.q_norm.weight"), shape(state, "l0.attn.k_norm.weight") })
    assert.is_nil(attributes(state, "l0.attn.q_norm").heads)
    -- A norm of all heads counts those whose factor is 0; one of each head does not.
    assert.equal("[16]", shape(graph({ qk_norm = "all", head_mask = { { 0, 1 } } }), "l0.attn.q_norm.weight"))
    assert.equal(1, attributes(graph({ qk_norm = "heads", head_mask = { { 0, 1 } } }), "l0.attn.q_norm").heads)
  end)

  it("rotate each head after a norm of its own, without a bias", function()
    local state = graph({ positions = "rope", kv_heads = 1, qk_norm = "each" })
    assert.same({ "[2, 8]", "[1, 8]" },
      { shape(state, "l0.attn.q_norm.weight"), shape(state, "l0.attn.k_norm.weight") })
    assert.is_nil(state.graph.tensors["l0.attn.q_norm.bias"])
    assert.same({ 2, true }, { attributes(state, "l0.attn.q_norm").heads, attributes(state, "l0.attn.q_norm").each })
    assert.equal("[2, 8]", shape(graph({ qk_norm = "each", head_mask = { { 0, 1 } } }), "l0.attn.q_norm.weight"))
  end)

  it("follow a limit of what a self-attention projects, and of nothing else", function()
    local state = graph({ positions = "rope", qkv_limit = 2, qk_norm = "heads", memory = { seq = 4 },
      projections = { v = false } })
    assert.same({ "l0.attn.q_clamped = clamp(l0.attn.q_norm)", "l0.attn.k_clamped = clamp(l0.attn.k_norm)" },
      equations(state, "clamped$"))
    assert.equal(2.0, attributes(state, "l0.attn.k_clamped").limit)
  end)

  it("fall with the distance by slopes that the description may change", function()
    local function formula(more) return graph(more).graph.tensors["positions.alibi"].formula end
    assert.same({ "alibi -7", "alibi_of 16 1 -7", "alibi_of 8 0.5 -7" }, { formula { positions = "alibi" },
      formula { positions = "alibi", alibi_max = 16 }, formula { positions = "alibi", alibi_factor = 0.5 } })
  end)

  it("relative to the key are a table a layer, added before the scale", function()
    local state = graph({ positions = "relative_key", max_position = 10, past = 2 })
    assert.same({ "l0.attn.distance.query = add_relative(l0.attn.scores, l0.attn.q, l0.attn.distance.weight)" },
      equations(state, "distance"))
    assert.equal("[19, 8]", shape(state, "l0.attn.distance.weight"))
    assert.same({ heads = 2, keys = false, offset = 2 }, attributes(state, "l0.attn.distance.query"))
    assert.equal("l0.attn.weights = softmax(l0.attn.distance.query)", equations(state, "weights$")[1])
    state = graph({ positions = "relative_key_query" })
    assert.same({ "l0.attn.distance.query = add_relative(l0.attn.scores, l0.attn.q, l0.attn.distance.weight)",
      "l0.attn.distance.key = add_relative(l0.attn.distance.query, l0.attn.k, l0.attn.distance.weight)" },
      equations(state, "distance"))
    assert.equal(1 / math.sqrt(8), attributes(state, "l0.attn.weights").scale)
    local pruned = graph({ positions = "relative_key", head_mask = { { 0, 1 } } })
    assert.equal(1, attributes(pruned, "l0.attn.distance.query").heads)
  end)
end)

describe("scores", function()
  it("are capped before anything is added to them", function()
    local state = graph({ softcap = 5, positions = "alibi", mask = "additive" })
    assert.same({ "l0.attn.scaled = scale(l0.attn.scores)", "l0.attn.capped = softcap(l0.attn.scaled)",
      "l0.attn.placed = add_distance(l0.attn.capped, positions.alibi)",
      "l0.attn.additive = add_array(l0.attn.placed, in.mask_bias)", "l0.attn.weights = softmax(l0.attn.additive)" },
      table.move(equations(state, "^l0%.attn"), 5, 9, 1, {}))
  end)

  it("take arrays by their shapes, what is added after the scale", function()
    local state = graph({ batch = 2, past = 3, mask = { "key_bias", "additive", "additive_heads", "key_padding",
      "blocked", "blocked_heads" } })
    assert.same({ "key_bias f32 [2, 11]", "mask_bias f32 [8, 11]", "head_bias f32 [2, 2, 8, 11]",
      "key_padding i32 [2, 11]", "blocked i32 [8, 11]", "head_blocked i32 [2, 2, 8, 11]" },
      table.move(members(state, "inputs"), 2, 7, 1, {}))
    assert.same({
      "l0.attn.scaled = scale(l0.attn.scores)",
      "l0.attn.key_bias = add_array(l0.attn.scaled, in.key_bias)",
      "l0.attn.additive = add_array(l0.attn.key_bias, in.mask_bias)",
      "l0.attn.additive_heads = add_array(l0.attn.additive, in.head_bias)",
      "l0.attn.key_padding = block_array(l0.attn.additive_heads, in.key_padding)",
      "l0.attn.blocked = block_array(l0.attn.key_padding, in.blocked)",
      "l0.attn.blocked_heads = block_array(l0.attn.blocked, in.head_blocked)",
      "l0.attn.weights = softmax(l0.attn.blocked_heads)",
    }, table.move(equations(state, "^l0%.attn"), 7, 14, 1, {}))
    assert.same({ 0, 1, 2 }, { attributes(state, "l0.attn.key_padding").shape,
      attributes(state, "l0.attn.blocked").shape, attributes(state, "l0.attn.blocked_heads").shape })
    assert.is_true(state.graph.tensors["in.blocked"].unbatched)
    assert.is_nil(helper.op(graph({ mask = "blocked" }), "l0.attn.scaled")) -- -inf needs no scale
  end)

  it("of padded keys have a value added where there is one, instead of a mask", function()
    local state = graph({ mask = "padding", mask_value = -100, bias_kv = true, memory = { seq = 4, mask = "padding" } })
    assert.equal("l0.attn.scores = scores(l0.attn.q, l0.attn.k_extended)", equations(state, "attn%.scores$")[1])
    assert.equal("l0.attn.padded = add_length(l0.attn.scaled, in.lengths)", equations(state, "attn%.padded$")[1])
    assert.same({ value = -100.0, extra = 1 }, attributes(state, "l0.attn.padded"))
    assert.equal("l0.cross.padded = add_length(l0.cross.scaled, in.memory_lengths)",
      equations(state, "cross%.padded$")[1])
    assert.same({ shape = 0, value = -2.0 },
      attributes(graph({ mask = "key_padding", mask_value = -2 }), "l0.attn.key_padding"))
  end)

  it("are a prefix's where the mask says so: causal after it", function()
    assert.same({ heads = 2, causal = true, left = -1, right = -1, prefix = 3 },
      attributes(graph({ mask = { prefix = 3 } }), "l0.attn.scores"))
  end)

  it("may be additive, and weights no softmax", function()
    local state = graph({ scoring = "additive", weighting = "relu" })
    assert.equal("l0.attn.scores = additive_scores(l0.attn.q, l0.attn.k, l0.attn.score.weight)",
      equations(state, "scores$")[1])
    assert.equal("[2, 8]", shape(state, "l0.attn.score.weight"))
    assert.equal("l0.attn.weights = weigh(l0.attn.scores)", equations(state, "weights$")[1])
    assert.same({ relu = true, scale = string.unpack("<f", string.pack("<f", 1 / math.sqrt(8))) },
      attributes(state, "l0.attn.weights")) -- a float
    assert.is_false(attributes(graph({ weighting = "none" }), "l0.attn.weights").relu)
  end)

  it("of a row that sees no key give zeros, or NaN", function()
    assert.same({ true, true }, { attributes(graph({ fully_masked = "nan" }), "l0.attn.weights").fully_masked_nan,
      attributes(graph({ fully_masked = "nan" }), "l0.attn.context").fully_masked_nan })
    assert.is_nil(attributes(graph(), "l0.attn.weights").fully_masked_nan)
  end)
end)

describe("weights and scores go out", function()
  it("a head or their mean, of chosen layers, after the other outputs", function()
    local state = graph({ layers = 3, attention_output = { layers = { 0, 2 }, scores = true }, mask = "additive",
      zero_attn = true, output = { { stage = "pool", over = "mean" } } })
    assert.same({ "pooled f32 [1, 16]", "attention_0 f32 [1, 2, 8, 9]", "scores_0 f32 [1, 2, 8, 9]",
      "attention_2 f32 [1, 2, 8, 9]", "scores_2 f32 [1, 2, 8, 9]" }, members(state, "outputs"))
    assert.equal("scores_0", state.graph.tensors["l0.attn.additive"].member) -- what the softmax reads
    state = graph({ attention_output = { kind = "none", scores = true } })
    assert.equal("scores_0", state.graph.tensors["l0.attn.scaled"].member)
    state = graph({ attention_output = "mean", memory = { seq = 5 } })
    assert.same({ "attention_0 f32 [1, 8, 8]", "cross_attention_0 f32 [1, 8, 5]" },
      table.move(members(state, "outputs"), 2, 3, 1, {}))
    assert.equal("l0.attn.mean = mean_heads(l0.attn.weights)", equations(state, "attn%.mean$")[1])
  end)

  it("of an encoder too, times the factors of heads", function()
    local state = graph({ memory = { stage = "encoder", seq = 5, attention_output = "heads", head_mask = "input" } })
    assert.same({ "hidden f32 [1, 8, 16]", "source_attention_0 f32 [1, 2, 5, 5]" }, members(state, "outputs"))
    assert.equal("source_attention_0", state.graph.tensors["encoder.l0.attn.masked"].member)
  end)
end)

describe("lengths of an encoder", function()
  it("are not judged by the length of a call", function()
    local state = graph({ mask = "padding", memory = { stage = "encoder", seq = 20, mask = "padding" } })
    assert.equal("after", state.graph.tensors["in.lengths"].hides)
    assert.is_nil(state.graph.tensors["in.source_lengths"].hides)
  end)
end)

describe("weights before a head mask", function()
  it("go out where that is asked, and those after it make the context", function()
    local output = { before_head_mask = true }
    for _, factors in ipairs { "input", { { 0, 0.5 } } } do
      local state = graph({ attention_output = output, head_mask = factors })
      assert.equal("attention_0", state.graph.tensors["l0.attn.weights"].member)
      assert.is_nil(state.graph.tensors["l0.attn.masked"].member)
      assert.equal("l0.attn.context = context(l0.attn.masked, l0.attn.v)", equations(state, "context$")[1])
    end
    assert.equal("attention_0", graph({ attention_output = output }).graph.tensors["l0.attn.weights"].member)
  end)
end)

describe("query, key and value", function()
  it("a pool takes the rows that a mask of keys keeps, after those of a past", function()
    local function pool(over, mask, more)
      more = more or {}
      more.mask, more.output = mask, { { stage = "pool", over = over } }
      local state = graph(more)
      return equations(state, "pool$")[1], attributes(state, "output.1.pool")
    end
    local text, of = pool("mean", "attention_mask")
    assert.equal("output.1.pool = pool(l0.norm2, in.attention_mask)", text)
    assert.same({ ["function"] = "mean", keeps = true }, of)
    text, of = pool({ "first", "max" }, { "key_padding", "causal" }, { past = 3 })
    assert.equal("output.1.pool = pool(l0.norm2, in.key_padding)", text)
    assert.same({ ["function"] = "first max", first = 3 }, of)
    assert.equal("output.1.pool = pool(l0.norm2)", (pool({ "first", "second" }, "attention_mask")))
    assert.equal("output.1.pool = pool(l0.norm2, in.lengths)", (pool("mean", { "attention_mask", "padding" })))
    assert.equal("output.1.pool = pool(l0.norm2)", (pool("mean", "attention_mask", { input = { stage = "qkv" } })))
  end)

  it("come in one by one; lengths are of the keys, and a pool takes every query", function()
    local state = graph({ batch = 2, input = { stage = "qkv" }, key_seq = 5, kdim = 6, vdim = 7, mask = "padding",
      output = { { stage = "pool", over = "mean" } } })
    assert.same({ "query f32 [2, 8, 16]", "key f32 [2, 5, 6]", "value f32 [2, 5, 7]", "lengths i32 [2]" },
      members(state, "inputs"))
    assert.same({ "[16, 6]", "[16, 7]", "[2, 2, 8, 5]" },
      { shape(state, "l0.attn.k.weight"), shape(state, "l0.attn.v.weight"), shape(state, "l0.attn.scores") })
    assert.equal(6, state.graph.tensors["in.lengths"].limit) -- 1 to 5
    assert.equal("output.1.pool = pool(l0.norm2)", equations(state, "pool$")[1])
  end)

  it("are projected one by one", function()
    local function parts_of(given)
      local state = graph({ projections = given })
      local list = {}
      for _, name in ipairs(state.graph.weights) do
        list[#list + 1] = name:match("^l0%.attn%.(%a+)%.weight$")
      end
      return table.concat(list, " "), equations(state, "context$")[1], equations(state, "attn.sum$")[1]
    end
    assert.equal("q k v out", (parts_of({ q = true })))
    local list, context, sum = parts_of({ v = false, out = false })
    assert.same({ "q k", "l0.attn.context = context(l0.attn.weights, in.hidden)",
      "l0.attn.sum = add(l0.attn.context, in.hidden)" }, { list, context, sum })
    assert.equal("v out", (parts_of({ q = false, k = false })))
    assert.equal("", (parts_of({ q = false, k = false, v = false, out = false })))
  end)

  it("without projections are all there is", function()
    local state = graph({ input = { stage = "qkv" }, key_seq = 5, kv_heads = 1, kdim = 8, vdim = 3, projections = false,
      residual = false, norm = "none", d_ff = 0 })
    assert.same({ "l0.attn.scores = scores(in.query, in.key)", "l0.attn.weights = softmax(l0.attn.scores)",
      "l0.attn.context = context(l0.attn.weights, in.value)" }, equations(state))
    assert.same({ "hidden f32 [1, 8, 6]" }, members(state, "outputs"))
    assert.same({}, state.graph.weights)
  end)
end)

describe("an input", function()
  it("that is an image is cut into patches, after a class token", function()
    local input = { stage = "image", height = 4, width = 6, patch = 2 }
    local description = helper.description({ batch = 2, layers = 0, input = input })
    description.seq = nil
    local state = helper.state(description, "graph")
    assert.same({ "image f32 [2, 3, 4, 6]" }, members(state, "inputs"))
    assert.same({ "input.pixels = patches(in.image)",
      "input.patches = linear(input.pixels, input.patches.weight, input.patches.bias)",
      "input.tokens = join(input.class, input.patches)", "input.states = add(input.tokens, input.positions.weight)" },
      equations(state))
    assert.same({ "[2, 6, 12]", "[16, 12]", "[1, 16]", "[2, 7, 16]", "[7, 16]" }, { shape(state, "input.pixels"),
      shape(state, "input.patches.weight"), shape(state, "input.class"), shape(state, "input.tokens"),
      shape(state, "input.positions.weight") })
  end)

  it("that is tokens has types and a norm after the sum", function()
    local state = graph({ layers = 0, input = { stage = "tokens", vocab = 9, types = 2, norm = true } })
    assert.same({ "input.embedded = embed(in.ids, input.tokens.weight)",
      "input.states = add(input.embedded, input.positions.weight)",
      "input.typed = embed(in.token_types, input.types.weight)",
      "input.typed_states = add(input.typed, input.states)",
      "input.norm = layer_norm(input.typed_states, input.norm.weight, input.norm.bias)" },
      table.move(equations(state), 1, 5, 1, {}))
    assert.equal(2, state.graph.tensors["in.token_types"].limit)
  end)

  it("and an output come and go sequence first", function()
    local state = graph({ batch = 2, layers = 0, layout = "seq_first", memory = { seq = 5, width = 12 },
      output = { { stage = "hidden" }, { stage = "pool", over = "max" } } })
    assert.same({ "memory f32 [5, 2, 12]", "hidden f32 [8, 2, 16]" }, members(state, "inputs"))
    assert.same({ "hidden f32 [8, 2, 16]", "pooled f32 [2, 16]" }, members(state, "outputs"))
    assert.same({ "input.memory = swap(in.memory)", "input.hidden = swap(in.hidden)",
      "output.hidden.swapped = swap(input.hidden)", "output.2.pool = pool(input.hidden)" }, equations(state))
  end)
end)

describe("a layer", function()
  it("may be gated, without a residual sum, without a feed-forward, with RMS norms", function()
    local state = graph({ gated = true, residual = false, norm_kind = "rms", activation = "silu" })
    assert.same({
      "l0.norm1 = rms_norm(l0.attn.out, l0.norm1.weight)",
      "l0.ff.gate = linear(l0.norm1, l0.ff.gate.weight, l0.ff.gate.bias)", "l0.ff.act = activate(l0.ff.gate)",
      "l0.ff.up = linear(l0.norm1, l0.ff.up.weight, l0.ff.up.bias)", "l0.ff.gated = multiply(l0.ff.up, l0.ff.act)",
      "l0.ff.down = linear(l0.ff.gated, l0.ff.down.weight, l0.ff.down.bias)",
      "l0.norm2 = rms_norm(l0.ff.down, l0.norm2.weight)",
    }, table.move(equations(state), 8, 14, 1, {}))
    assert.equal("l0.norm1", graph({ d_ff = 0 }).graph.entry.outputs[1])
  end)
end)

describe("a head over the vocabulary", function()
  it("is tied to the tokens' table, or has a weight as wide as its rows", function()
    local tokens = { stage = "tokens", vocab = 9 }
    local state = graph({ layers = 0, input = tokens, output = { { stage = "vocabulary", bias = true } } })
    local weight = state.graph.tensors["output.1.vocabulary.weight"]
    assert.same({ { 9, 16 }, {}, "input.tokens.weight" },
      { weight.shape, weight.source, weight.rule.names[1] })
    assert.same({ "logits f32 [1, 8, 9]" }, members(state, "outputs"))
    state = graph({ layers = 0, input = tokens,
      output = { { stage = "linear", to = 5 }, { stage = "vocabulary", tied = false } } })
    assert.equal("[9, 5]", shape(state, "output.2.vocabulary.weight"))
    assert.equal("output.2.vocabulary.weight", state.graph.tensors["output.2.vocabulary.weight"].rule.names[1])
  end)
end)

describe("rows that an attention and products round", function()
  local function operations(target, more)
    local given = { precision = "bf16", kernels = "c", target = target }
    for key, value in pairs(more) do given[key] = value end
    return helper.tiny(given, "emit")
  end

  it("are rounded once", function()
    local rounded = equations(operations("avx512bf16", { projections = { k = false } }), "^in%.hidden")
    assert.same({ "in.hidden.bf16 = round(in.hidden)" }, rounded)
  end)

  it("are rounded by the same operations on all targets of a list, which may store them differently", function()
    for _, more in ipairs { { projections = { k = false } }, { projections = { q = false } },
      { projections = { v = false } }, { projections = { q = false, v = false }, layers = 2 },
      { memory = { seq = 6, width = 16 }, projections = { k = false }, mask = "causal", layers = 2 } } do
      for _, target in ipairs { "avx512bf16, avx512vnni, avx2", "avx512bf16, x86_64" } do
        assert.matches("tiny", operations(target, more).files[1].text)
      end
    end
  end)
end)
