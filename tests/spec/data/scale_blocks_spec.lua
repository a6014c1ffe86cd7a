-- scale_blocks_spec.lua: which products with weights in scale blocks read inputs of 15 bits.
local helper = require("tests.spec.helper")

-- Returns the inputs of a model's products as a set of "path of the product type of its rows".
local function rows_of(overrides)
  local graph = helper.tiny(overrides, "graph").primary.graph
  local found = {}
  for _, op in ipairs(graph.entry.ops) do
    if op.op == "linear" then found[op.result.name] = op.operands.x.type end
  end
  return found
end

describe("inputs of products with weights in scale blocks", function()
  it("have 15 bits before values, queries, keys, what is after the layers, and in the last layer", function()
    for _, weights in ipairs { "int8", "int4", "int4m", "int8h", "mxfp4" } do
      local found, count = rows_of { layers = 3, weights = weights }, 0
      for path, type in pairs(found) do
        local is_fine = path:find("^l2%.") or path:find("%.attn%.[qkv]$") or not path:find("^l%d")
        assert.equal(is_fine and "x15" or "x8", type, path)
        count = count + (type == "x8" and 1 or 0)
      end
      assert.equal(6, count) -- out, ff.up and ff.down of two layers
    end
  end)

  it("have 8 bits before queries if four heads or more share a key, but for the last layer", function()
    for kv_heads, type in pairs { [1] = "x8", [2] = "x15" } do
      local found = rows_of { layers = 2, heads = 4, kv_heads = kv_heads, d_model = 64, weights = "int4" }
      assert.same({ type, "x15", "x15", "x15" },
        { found["l0.attn.q"], found["l0.attn.k"], found["l0.attn.v"], found["l1.attn.q"] })
    end
  end)

  it("are floats where there are no blocks", function()
    local found = rows_of { layers = 2, weights = { "none", ["layer 1"] = "int4" } }
    assert.equal("f32", found["l0.attn.q"])
    assert.equal("x15", found["l1.ff.down"])
  end)
end)
