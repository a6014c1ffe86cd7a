-- sources_spec.lua: tests the graphs of an encoder beside a decoder that goes on: what `encode` keeps, what the
-- decoder reads, and names of weights that either has.
local encoded = require("tests.spec.encoded")
local helper = require("tests.spec.helper")
local words = require("common.words")

local function cross(state) return helper.equations(state, "^l0%.cross") end

local function shapes(state, pattern)
  local list = {}
  for _, name in ipairs(state.graph.order) do
    local tensor = state.graph.tensors[name]
    if name:find(pattern) then
      list[#list + 1] = ("%s %s %s %s"):format(name, tensor.kind, tensor.type, words.shape(tensor.shape))
    end
  end
  return list
end

-- Returns the refusal of a model's names or types of weights.
local function refusal(more)
  return helper.fault(function() encoded.states({ d_model = 24, heads = 3 }, more, "graph") end)
end

describe("the graphs of an encoder and a decoder", function()
  it("keep keys and values, which the decoder's scores and context read", function()
    local encode, decode = encoded.states({ d_model = 24, heads = 3 }, { kv_heads = 1 }, "graph")
    assert.same({ "l0.cross.k = linear(encoder.l0.norm2, l0.cross.k.weight, l0.cross.k.bias)",
      "l0.cross.v = linear(encoder.l0.norm2, l0.cross.v.weight, l0.cross.v.bias)",
      "l0.cross.k.kept = keep(l0.cross.k)", "l0.cross.v.kept = keep(l0.cross.v)" }, cross(encode))
    local list = cross(decode)
    assert.same("l0.cross.q = linear(l0.norm1, l0.cross.q.weight, l0.cross.q.bias)", list[1])
    assert.same({ "l0.cross.scores = scores(l0.cross.q, l0.cross.k.kept)",
      "l0.cross.weights = softmax(l0.cross.scores)", "l0.cross.context = context(l0.cross.weights, l0.cross.v.kept)" },
      table.move(list, 2, 4, 1, {}))
    assert.same({ "l0.cross.k.kept state f32 [1, 24, 8]", "l0.cross.v.kept state f32 [1, 24, 8]" },
      shapes(decode, "kept"))
    assert.same({ "in.ids" }, decode.graph.entry.inputs)
    assert.same({}, encode.graph.entry.outputs)
  end)

  it("keep integers with the scale of each key", function()
    for bits, cache in pairs { [8] = "int8", [4] = "int4" } do
      local encode, decode = encoded.states(nil, { cache = cache }, "graph")
      assert.same({ "l0.cross.k.kept state i8 [1, 24, 16]", "l0.cross.k.scale state f32 [1, 24, 2]" },
        shapes(decode, "^l0%.cross%.k%.[ks]"))
      assert.same({ "l0.cross.k.kept = keep(l0.cross.k.int" .. bits .. ", l0.cross.k.scale)",
        "l0.cross.v.kept = keep(l0.cross.v.int" .. bits .. ", l0.cross.v.scale)" },
        helper.equations(encode, "cross.*kept"))
      assert.equal(bits, decode.graph.tensors["l0.cross.k.kept"].kept.bits)
    end
  end)

  it("turn heads by a Hadamard matrix before they become integers, and the context back", function()
    local _, decode = encoded.states(nil, { cache = "int8" }, "graph")
    local function all(pattern) return helper.equations(decode, pattern) end
    assert.same({ "l0.attn.k.turned = hadamard(l0.attn.k)", "l0.attn.v.turned = hadamard(l0.attn.v)",
      "l0.attn.q.turned = hadamard(l0.attn.q)", "l0.attn.context.turned = hadamard(l0.attn.context)" },
      all("^l0%.attn.*turned$"))
    assert.equal("l0.attn.scores = scores(l0.attn.q.turned, l0.attn.k.int8, l0.attn.k.scale)",
      all("^l0%.attn%.scores$")[1])
    assert.equal("l0.attn.out = linear(l0.attn.context.turned, l0.attn.out.weight, l0.attn.out.bias)",
      all("^l0%.attn%.out$")[1])
    assert.same({ "l0.cross.q.turned = hadamard(l0.cross.q)",
      "l0.cross.context.turned = hadamard(l0.cross.context)" }, all("^l0%.cross.*turned$"))
    local function block(head_dim, cache)
      local _, state = encoded.states(nil, { cache = cache, head_dim = head_dim }, "graph")
      for _, op in ipairs(state.graph.entry.ops) do if op.op == "hadamard" then return op.attributes.block end end
      return nil
    end
    assert.same({ 8, 4, 256 }, { block(8, "int4"), block(20, "int8"), block(512, "int8") })
    assert.same({}, { block(15, "int8"), block(8, "bf16") })
  end)

  it("have one input of sources each, and no weight twice", function()
    local encode, decode = encoded.states({ input = { stage = "tokens", vocab = 7, types = 2 } }, nil, "graph")
    assert.same({ "in.source_ids", "in.source_token_types" }, encode.graph.entry.inputs)
    assert.same({ "in.ids" }, decode.graph.entry.inputs)
    local seen = words.set(encode.graph.weights)
    for _, name in ipairs(decode.graph.weights) do
      assert.is_falsy(seen[name] and not decode.graph.tensors[name].formula, name)
    end
  end)

  it("have inner tensors as outputs in the decoder alone, as a call of sources has no outputs", function()
    local state = helper.state(encoded.description(), "lower", { exposed = true })
    assert.same({}, state.entries[1].graph.entry.outputs)
    assert.is_true(#state.graph.entry.outputs > 5)
  end)

  it("take names and types of either's linear layers, and refuse those that none has", function()
    assert.has_no.errors(function()
      encoded.states({ d_model = 24, heads = 3 }, { layers = 2, weights = { ["encoder.l0.ff.up"] = "int8",
        ["l1.cross.k"] = "int4", ["l1.cross.q"] = "int8" } }, "graph")
    end)
    local fault = refusal { weights = { ["encoder.l1.ff.up"] = "int8" } }
    assert.same({ "weights: encoder.l1.ff.up: the model has no such linear layer" }, fault.lines)
    assert.has_no.errors(function()
      encoded.states(nil, { names = { ["encoder.l*.attn.q"] = "a.*.q", ["l*.cross.k"] = "b.*.k" } }, "graph")
    end)
    fault = refusal { names = { ["encoder.l*.attn.x"] = "a.*.q" } }
    assert.same({ "names: encoder.l*.attn.x: the model has no such weight; did you mean encoder.l*.attn.q?" },
      fault.lines)
  end)
end)
