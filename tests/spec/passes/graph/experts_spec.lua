-- experts_spec: the operations of a mixture of experts, by the fields of the key `experts`.
local helper = require("tests.spec.helper")

-- Returns the operations of the first layer's feed-forward as "result = op(operands)", without its path.
local function ops_of(experts, more)
  local description = helper.description({ d_model = 8, heads = 2, d_ff = 12, experts = experts })
  for key, value in pairs(more or {}) do description[key] = value end
  local state, list = helper.state(description, "graph"), {}
  for _, op in ipairs(state.entries[1].graph.entry.ops) do
    local name = op.result.name:match("^l0%.ff%.(.*)$")
    local from = op.operands.x or op.operands.a or op.operands.chosen
    if name then list[#list + 1] = ("%s = %s(%s)"):format(name, op.op, (from.name:gsub("^l0%.ff%.", ""))) end
  end
  return list, state.entries[1].graph
end

describe("a mixture of experts", function()
  it("has a router whose softmax is of all experts, or of the chosen ones", function()
    local e = { count = 4, used = 2, d_ff = 8 }
    local list = ops_of(e)
    assert.same({ "chosen = topk_indices(router)", "picked = pick(router)", "weights = softmax_rows(picked)" },
      { list[2], list[3], list[4] })
    e.normalise = false
    list = ops_of(e)
    assert.same({ "scores = softmax_rows(router)", "chosen = topk_indices(scores)", "picked = pick(scores)",
      "groups = group_rows(chosen)" }, { list[2], list[3], list[4], list[5] })
  end)

  it("has a router of sigmoids, with a correction of the choice alone", function()
    local list = ops_of({ count = 4, used = 2, d_ff = 8, router = "sigmoid", correction = true })
    assert.same({ "scores = activate(router)", "corrected = add(scores)", "chosen = topk_indices(corrected)",
      "picked = pick(scores)", "weights = share(picked)" }, { table.unpack(list, 2, 6) })
  end)

  it("sorts rows once for gate and up, and adds a shared expert after the sum", function()
    local list, graph = ops_of({ count = 4, used = 2, d_ff = 8, shared = 6, shared_gate = true }, { gated = true })
    local text, spreads = table.concat(list, "\n"), 0
    for _, op in ipairs(graph.entry.ops) do spreads = spreads + (op.op == "spread" and 1 or 0) end
    assert.equal(1, spreads)
    assert.truthy(text:find("shared.with_gate = gate_rows(shared.down)", 1, true))
    assert.truthy(text:find("combined = combine(experts.down)\nwith_shared = add(combined)", 1, true), text)
    assert.same({ 32, 8 }, graph.tensors["l0.ff.experts.gate.weight"].shape)
    assert.same({ 1, graph.tensors["l0.ff.groups"] }, { 1, graph.tensors["l0.ff.act"].groups })
    assert.is_nil(graph.tensors["l0.ff.combined"].groups)
  end)

  it("may have norms of its own, and a number for each expert", function()
    local list, graph = ops_of({ count = 4, used = 2, d_ff = 8, shared = 6, own_norms = true, scales = true },
      { norm = "sandwich", norm_kind = "rms" })
    local text = table.concat(list, "\n")
    for _, line in ipairs { "router.norm = rms_norm(l0.attn.sum)", "router = linear(router.norm)",
      "scales = pick(router.scales.weight)", "scaled = multiply(weights)", "shared.up = linear(l0.norm2)",
      "shared.norm = rms_norm(shared.down)", "experts.norm = rms_norm(l0.attn.sum)",
      "experts.norm_after = rms_norm(combined)", "with_shared = add(experts.norm_after)" } do
      assert.truthy(text:find(line, 1, true), line .. "\n" .. text)
    end
    assert.same({ 4 }, graph.tensors["l0.ff.router.scales.weight"].shape)
    assert.near(1 / math.sqrt(8), graph.tensors["l0.ff.router.norm.weight"].from.views[1].factor, 1e-12)
  end)

  it("multiplies in the type of the precision, but routes in floats", function()
    for _, word in ipairs { "bf16", "int8" } do
      local _, graph = ops_of({ count = 4, used = 2, d_ff = 8 }, { precision = word })
      assert.equal("f32", graph.tensors["l0.ff.router.weight"].type)
      assert.equal(word == "bf16" and "bf16" or "i8", graph.tensors["l0.ff.experts.up.weight"].type)
    end
  end)
end)
