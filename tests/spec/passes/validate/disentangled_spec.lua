-- disentangled_spec: the keys of positions = "disentangled": what goes with them and what does not, and the tables that
-- the graph makes of them.
local helper = require("tests.spec.helper")

local function refusal(more) return table.concat(helper.refusals(helper.description(more)), "\n") end

describe("disentangled positions", function()
  local function with(more)
    local all = { positions = "disentangled", position_buckets = 4, position_distance = 9 }
    for key, value in pairs(more) do all[key] = value end
    return all
  end

  it("have tables that reach all distances, by the weights of keys and queries", function()
    local graph = helper.state(helper.description(with { kv_heads = 1 }), "graph").graph
    local keys, queries = graph.tensors["l0.attn.distances_k"], graph.tensors["l0.attn.distances_q"]
    assert.equal(2 * keys.shape[1], queries.shape[1])
    assert.matches("^projected 1 95 %-1 4 9 .* positions.table.weight l0.attn.k.weight l0.attn.k.bias %- %-$",
      keys.formula)
    assert.matches("^projected 2 95 1 4 9 .* positions.table.weight l0.attn.q.weight l0.attn.q.bias %- %-$",
      queries.formula)
    assert.same({ 8, 16 }, graph.tensors["positions.table.weight"].shape)
  end)

  it("refuse what does not go with them", function()
    for _, case in ipairs {
      { with { position_buckets = 3 }, "position_buckets: 3, but 0 or at least 4 is allowed" },
      { with { position_distance = 3 }, "position_distance: 3, but with 4 buckets at least 4 is allowed" },
      { with { scoring = "additive" }, 'positions: disentangled goes with scoring = "dot"' },
      { with { projections = false }, "position_projections: shared goes with projections of q and k; give own" },
      { with { precision = { "int8", attention = "int8" } }, "positions: disentangled positions: not supported with" },
    } do assert.is_truthy(refusal(case[1]):find(case[2], 1, true), refusal(case[1])) end
  end)
end)
