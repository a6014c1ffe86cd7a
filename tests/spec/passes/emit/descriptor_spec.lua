-- emit_descriptor_spec: the rows of the descriptor: tensors, ops, weights, in C.
local helper = require("tests.spec.helper")
local emit_descriptor = require("passes.emit.descriptor")

local function values(more)
  local state = helper.tiny(more, "kernels")
  local trace
  for _, program in ipairs(state.programs) do if program.variant == "trace" then trace = program end end
  return emit_descriptor.values(state), state, trace
end

describe("the descriptor", function()
  it("has a row a tensor, with the place in the trace of what is scratch", function()
    local v, state, trace = values({ mask = "padding" })
    assert.equal(#state.graph.order, #v.tensor_rows)
    assert.equal('{ "hidden", ATTN2C_INPUT, ATTN2C_F32, 3, { 1, 8, 16 }, 0, 0, -1, 0 },', v.tensor_rows[1])
    assert.equal('{ "lengths", ATTN2C_INPUT, ATTN2C_I32, 1, { 1 }, 1, 9, -1, 0 },', v.tensor_rows[2])
    local found = 0
    for i, name in ipairs(state.graph.order) do
      if state.graph.tensors[name].kind == "scratch" then
        local offset, ld = v.tensor_rows[i]:match(", (%d+), (%d+) },$")
        local place = trace.offsets[name .. "@trace"] or trace.offsets[name]
        assert.equal(place, 4 * math.tointeger(tonumber(offset)), name)
        assert.is_true(tonumber(ld) >= state.graph.tensors[name].shape[#state.graph.tensors[name].shape])
        found = found + 1
      end
    end
    assert.equal(13, found) -- 14 ops, the last of which is the output
  end)

  it("has a row an op, operands in the table's order, -1 where there is none", function()
    local v, state = values({ bias = false })
    assert.equal(#state.graph.entry.ops, #v.of_entries[1].op_rows)
    -- Tensors in order: 0 in.hidden, 1 q.weight, 2 q.
    assert.matches('^{ "linear", "layer 0", 2, { 0, 1, %-1, %-1, %-1, %-1 }, attributes_0, 4096.0, ATTN2C_NO_ROLE },$',
      v.of_entries[1].op_rows[1])
    assert.equal("{ NULL, 0, NULL }", v.attribute_lists[1])
  end)

  it("shares equal attributes", function()
    local v1, v5 = values({}), values({ layers = 5 })
    assert.equal(#v1.attribute_lists, #v5.attribute_lists)
  end)

  it("writes attributes that read back exactly", function()
    local v = values({ eps = 1e-12, scale = 0.1 })
    local text = table.concat(v.attribute_lists, "\n")
    assert.equal(1e-12, tonumber(text:match('"eps", ([^,]+),')))
    assert.equal(0.1, tonumber(text:match('"scale", ([^,]+),')))
    assert.matches('{ "function", 0, "gelu" }', text, 1, true)
    assert.matches('{ "left", -1, NULL }', text, 1, true)
  end)

  it("has a row a weight: where its rows lie in the checkpoint's tensor, and its panels", function()
    local v, state = values({ names = "torch", d_model = 80, heads = 2 })
    assert.equal(#state.graph.weights, #v.weight_rows)
    -- The third weight is k's: rows 80 to 159 of a tensor of 240; panels of 48 and 32.
    assert.matches("^{ %d+, 2, 1, NULL, 0.0, 0.1[%d]*, %d+, 48, 1, { 32, 0 } },$", v.weight_rows[3])
    assert.equal("{ 0, 0, 0, 80, 0, 80, 6400, 80, 1, 1.0 },", v.view_rows[3])
    assert.equal("{ names_0, 2, { 240, 80 }, 0 },", v.stored_rows[1])
    assert.equal('static const char *const names_0[] = { "encoder.layers.0.self_attn.in_proj_weight", '
      .. '"layers.0.self_attn.in_proj_weight", NULL };', v.stored_names[1])
  end)

  it("gives a constant its formula and no name", function()
    local v = values({ positions = "sinusoidal" })
    assert.matches('^{ %d+, 0, 0, "sinusoidal", 0.0, 0.0, 0, 0, 0, { 0, 0 } },$', v.weight_rows[1])
  end)

  it("lists inputs and outputs by index", function()
    local v = values({ layers = 0, mask = "padding", output = { { stage = "hidden" }, { stage = "argmax" } } })
    assert.same({ "0, 1", "2, 3" }, { v.of_entries[1].input_list, v.of_entries[1].output_list })
  end)
end)
