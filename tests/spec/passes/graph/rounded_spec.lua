-- rounded_spec: which activations have the short form of data/activations.lua.
local helper = require("tests.spec.helper")
local measure = require("commands.tune.measure")

-- The functions of a model's activations by name. exposed: as for the state.
local function functions_of(more, exposed)
  local graph, found = helper.state(helper.description(more), "graph", { exposed = exposed }).graph, {}
  for _, op in ipairs(graph.entry.ops) do
    if op.op == "activate" then found[op.result.name] = op.attributes["function"] end
  end
  return found
end

describe("activations whose results are rounded", function()
  it("have the short form where products read bf16 or int8", function()
    for precision, name in pairs { f32 = "gelu", bf16 = "gelu_rounded", int8 = "gelu_rounded" } do
      assert.equal(name, functions_of { activation = "gelu", precision = precision }["l0.ff.act"], precision)
    end
    assert.equal("silu", functions_of { activation = "silu", precision = "int8" }["l0.ff.act"])
  end)

  it("keep theirs where something reads floats, or they are outputs", function()
    assert.equal("gelu", functions_of { activation = "gelu", precision = "int8", gated = true }["l0.ff.act"])
    local functions = functions_of { activation = "silu", precision = "int8", output = {
      { stage = "linear", to = 8 }, { stage = "gelu", name = "seen" }, { stage = "linear", to = 8 } } }
    functions["l0.ff.act"] = nil
    assert.equal("gelu", select(2, next(functions)))
  end)

  it("are the same where outputs are added for a comparison", function()
    assert.equal("gelu_rounded", functions_of({ activation = "gelu", precision = "int8" }, true)["l0.ff.act"])
  end)

  it("have the name of the function in keys of tuning files, as builds without them", function()
    for precision, key in pairs { bf16 = "64x16 bf16 n 8 +bias_gelu", int8 = "64x16 int8 n 8 +dequantise_gelu" } do
      local planned = helper.tiny({ activation = "gelu", precision = precision }, "plan")
      local products, functions = measure.products(planned), {}
      for _, op in ipairs(assert(products[key], key).ops) do functions[op.attributes["function"] or ""] = true end
      assert.is_true(functions.gelu_rounded)
    end
  end)

  it("are not words of descriptions", function()
    assert.falsy(pcall(functions_of, { activation = "gelu_rounded" }))
  end)
end)
