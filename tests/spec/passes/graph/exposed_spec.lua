-- exposed_spec: which axes of tensors that are made outputs have the size of a call.
local helper = require("tests.spec.helper")
local operands = require("data.operands")
local words = require("common.words")

-- The axes of a model's exposed tensors (Builder:grows), by the tensors' names.
local function axes_of(more)
  local graph, axes = helper.state(helper.description(more), "graph", { exposed = true }).graph, {}
  for _, each in ipairs(graph.exposed) do
    for _, name in ipairs(graph.entry.outputs) do
      if graph.tensors[name].member == each.member then axes[each.name] = graph.tensors[name].grows end
    end
  end
  return axes
end

describe("exposed tensors", function()
  it("of a memory keep its rows, also where it has as many as the sequence", function()
    for _, layout in ipairs { "batch_first", "seq_first" } do
      for _, rows in ipairs { 8, 12 } do
        local axes = axes_of { seq = 8, layout = layout, memory = { seq = rows, width = 8 } }
        assert.equal("b..", axes["l0.cross.k"])
        assert.equal("b..", axes["l0.cross.v"])
        for _, name in ipairs { "l0.attn.k", "l0.cross.q", "l0.cross.context", "l0.cross.out" } do
          assert.equal("bs.", axes[name], name)
        end
      end
    end
  end)

  it("leave out the parts of experts, whose rows are in the order of experts", function()
    for used = 1, 2 do
      local state, names = helper.state(helper.description { seq = 5, experts = { count = 3, d_ff = 8, used = used } },
        "memory", { exposed = true }), {}
      for _, each in ipairs(state.graph.exposed) do names[each.name] = true end
      assert.is_true(names["l0.ff.combined"] and names["l0.ff.router"])
      for _, op in ipairs(state.graph.entry.ops) do
        assert.is_nil(op.result.groups and names[op.result.name], op.result.name)
      end
    end
  end)
end)

describe("exposed tensors of a model that continues", function()
  local function state_of(more)
    return helper.state(helper.description(words.merged({ input = { stage = "tokens", vocab = 30 }, context = 40,
      layers = 2, mask = "causal", output = { { stage = "linear", to = 20 } } }, more)), "emit", { exposed = true })
  end
  local state = state_of {}
  local of_experts = state_of { experts = { count = 3, d_ff = 8, used = 2 } }

  -- The first row of a block as an address has it, among all rows of a call or among those that it asks for.
  local first_of = { row = "row", whole_row = "row", answer = "answer", whole_answer = "answer" }

  it("have the same rows where they are written and read, whichever of them a call asks for", function()
    for _, each in ipairs { state, of_experts } do
      local symbol, found = {}, { row = 0, answer = 0 }
      for _, step in ipairs(helper.steps(each.programs[1])) do
        operands.each(step, function(operand)
          if operand.class ~= "out" then return end
          for term, own in pairs(first_of) do
            if operand.terms[term] then
              assert.equal(symbol[operand.buffer] or own, own, operand.buffer)
              symbol[operand.buffer], found[own] = own, found[own] + 1
            end
          end
        end)
      end
      assert.is_true(found.row > 5 and found.answer > 5)
    end
  end)

  it("are not its logits", function()
    assert.equal("0", helper.emitted(state, "tiny_model.c"):match("%.logits = (%d+),"))
  end)
end)
