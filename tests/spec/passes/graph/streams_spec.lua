-- streams_spec: the operations of layers with parallel streams of states, with a residual of low rank, and with gates
-- of which only the largest numbers stay.
local helper = require("tests.spec.helper")
local normal = require("common.normal")

-- Returns the operations whose results begin with a prefix as "result = op(operands)", and the graph.
local function ops_of(prefix, more)
  local graph, list = helper.tiny(more, "graph").primary.graph, {}
  for _, op in ipairs(graph.entry.ops) do
    local name, names = op.result.name, {}
    for _, operand in ipairs { "x", "a", "b" } do
      if op.operands[operand] then names[#names + 1] = op.operands[operand].name end
    end
    local column = op.attributes.column and (" %d"):format(op.attributes.column) or ""
    if name:sub(1, #prefix) == prefix then
      list[#list + 1] = ("%s = %s(%s)%s"):format(name:sub(#prefix + 1), op.op, table.concat(names, ", "), column)
    end
  end
  return table.concat(list, "\n"), graph
end

describe("streams", function()
  it("begin as long as the input, and end as the mean of layers as long as the first", function()
    local two = { layers = 0, streams = { count = 2 } }
    local text, graph = ops_of("", two)
    assert.equal([[
input.streams.lengths = row_length(in.hidden)
input.streams.1 = linear(in.hidden)
input.streams.1.unit = normalise(input.streams.1)
input.streams.1.resized = gate_rows(input.streams.1.unit, input.streams.lengths)
output.streams.lengths = row_length(in.hidden)
output.streams.1 = linear(input.streams.1.resized)
output.streams.1.unit = normalise(output.streams.1)
output.streams.1.resized = gate_rows(output.streams.1.unit, output.streams.lengths)
output.streams.1.sum = add(output.streams.1.resized, in.hidden)
output.streams.mean = scale(output.streams.1.sum)]], (text:gsub("\n[^\n]*copy[^\n]*", "")))
    local width, factor
    for _, op in ipairs(graph.entry.ops) do
      if op.op == "normalise" then assert.near(math.sqrt(1e-5 * 16), op.attributes.eps, 1e-9) end
      if op.op == "scale" then factor = op.attributes.factor end
      width = op.op == "row_length" and op.result.shape[3] or width
    end
    assert.same({ 1, 0.5 }, { width, factor })
  end)

  it("are predicted from all, and corrected by the difference of the one that a layer computes", function()
    local text, graph = ops_of("l0.streams.", { norm = "pre", streams = { count = 2, active = 1 } })
    for _, line in ipairs { "predict.normed = rms_norm(input.streams.1.resized)", "predict = linear(predict.modes)",
      "predicted.0.0.term = gate_rows(in.hidden, predict) 0", "predicted.0.0 = add(predicted.0.0.term, in.hidden)",
      "predicted.0.1.term = gate_rows(input.streams.1.resized, predict) 1",
      "predicted.0.1 = add(predicted.0.1.term, predicted.0.0)",
      "predicted.1.0.term = gate_rows(in.hidden, predict) 2",
      "predicted.1.1.term = gate_rows(input.streams.1.resized, predict) 3",
      "less = scale(predicted.1.1)", "change = add(less, l0.ff.sum)",
      "correct.normed = rms_norm(l0.ff.sum)", "corrected.0.change.term = gate_rows(change, correct) 0",
      "corrected.0.change = add(corrected.0.change.term, change)",
      "corrected.0 = add(corrected.0.change, predicted.0.1)",
      "corrected.1.change.term = gate_rows(change, correct) 1" } do
      local plain = text:gsub("l0%.streams%.", "")
      assert.truthy(plain:find(line, 1, true), line .. "\n" .. plain)
    end
    for _, op in ipairs(graph.entry.ops) do
      if op.result.name == "l0.streams.less" then assert.equal(-1.0, op.attributes.factor) end
    end
    assert.same({ 4, 2 }, graph.tensors["l0.streams.predict.weight"].shape)
    assert.same({ 2, 16 }, graph.tensors["l0.streams.router.weight"].shape)
    assert.near(1 / 16, graph.tensors["l0.streams.norm.weight"].from.views[1].factor, 1e-12)
    assert.truthy(ops_of("l0.", { norm = "pre", streams = { count = 2, active = 1 } }):find(
      "norm1 = rms_norm(l0.streams.predicted.1.1)", 1, true)
      or ops_of("l0.", { norm = "pre", streams = { count = 2, active = 1 } }):find(
      "norm1 = layer_norm(l0.streams.predicted.1.1)", 1, true))
  end)

  it("have what reads tokens added, but the first", function()
    local text = ops_of("l0.", { norm = "pre", positions = "none", layer_inputs = 4, input = { stage = "tokens",
      vocab = 9 }, streams = { count = 3, scaled = true } })
    assert.truthy(text:find("streams.scaled = multiply(l0.streams.corrected.0, l0.streams.scale.weight)", 1, true))
    assert.truthy(text:find("tokens.gate = linear(l0.streams.scaled)", 1, true), text)
    assert.truthy(text:find("tokens.added.1 = add(l0.streams.corrected.1, l0.tokens.norm)", 1, true), text)
    assert.truthy(text:find("tokens.added.2 = add(l0.streams.corrected.2, l0.tokens.norm)", 1, true), text)
    assert.is_nil(text:find("tokens.added.0", 1, true))
  end)

  it("and what goes with them are refused where they mean nothing", function()
    local function refusal(more) return table.concat(helper.refusals(helper.description(more)), "\n") end
    local four = { count = 4 }
    for message, more in pairs {
      ["streams.count: missing: the number of streams"] = { streams = {} },
      ["streams.count: 1, but an integer from 2 to 16 is allowed"] = { streams = { count = 1 } },
      ["streams.active: 4, but there are 4 streams, numbered from 0"] = { streams = { count = 4, active = 4 } },
      ['streams: no field "size"'] = { streams = { count = 4, size = 4 } },
      ["streams.scaled: goes with layer_inputs"] = { streams = { count = 4, scaled = true } },
      ["conv_kernel: does not go with streams"] = { streams = four, conv_kernel = 3 },
      ["stages: does not go with streams"] = { streams = four, stages = 2, layers = 2 },
      ["layer_scale: does not go with streams"] = { streams = four, layers = { {}, { layer_scale = true } } },
      ['residual_rank: goes with norm = "pre" or "sandwich"'] = { residual_rank = 4 },
      ["layers.2.residual_rank: goes with"] = { norm = "pre", layers = { {}, { residual_rank = 4, norm = "post" } } },
      ["layers.1.gate_sparsity: goes with gated = true, without experts"] = { layers = { { gate_sparsity = 0.5 } } },
      ["gate_sparsity: 1e-20, but 0 or a number from 0.0001 is allowed"] = { gated = true, gate_sparsity = 1e-20 },
      ["gate_sparsity: goes with gated"] = { gated = true, gate_sparsity = 0.5,
        experts = { count = 2, used = 1, d_ff = 8 } },
    } do
      assert.truthy(refusal(more):find(message, 1, true), message .. "\n" .. refusal(more))
    end
    assert.equal("", refusal { streams = false, gate_sparsity = 0.0 })
  end)
end)

describe("a residual of low rank", function()
  it("reads the norm of the states, and is halved with the attention's sum", function()
    local text, graph = ops_of("l0.", { norm = "sandwich", residual_rank = 5 })
    for _, line in ipairs { "low_rank.left = linear(l0.norm1)", "low_rank.right = linear(l0.low_rank.left)",
      "low_rank.norm = layer_norm(l0.low_rank.right)", "low_rank.sum = add(l0.low_rank.norm, l0.norm1)",
      "attn.sum = add(l0.norm1_after, in.hidden)", "attn.with_low_rank = add(l0.low_rank.sum, l0.attn.sum)",
      "attn.halved = scale(l0.attn.with_low_rank)", "norm2 = layer_norm(l0.attn.halved)" } do
      assert.truthy(text:find(line, 1, true), line .. "\n" .. text)
    end
    assert.same({ 5, 16 }, graph.tensors["l0.low_rank.left.weight"].shape)
  end)
end)

describe("gate_sparsity", function()
  it("cuts a share of normal numbers off, before the activation", function()
    local text, graph = ops_of("l0.ff.", { gated = true, layers = { { gate_sparsity = 0.95 }, {} } })
    assert.truthy(text:find("gate_kept = sparsify(l0.ff.gate)", 1, true), text)
    assert.truthy(text:find("act = activate(l0.ff.gate_kept)", 1, true), text)
    assert.is_nil(graph.tensors["l1.ff.gate_kept"])
    for _, op in ipairs(graph.entry.ops) do
      if op.op == "sparsify" then assert.near(1.6448536, op.attributes.factor, 1e-6) end
    end
    for p, z in pairs { [0.5] = 0, [0.975] = 1.959963985, [0.1] = -1.281551566, [0.9999] = 3.719016485 } do
      assert.near(z, normal.quantile(p), 1e-8)
    end
  end)
end)
