-- gguf_types_spec.lua: the types of GGUF's tensors: no number or name occurs twice, blocks are whole.
require("tests.spec.helper")
local gguf_types = require("common.gguf_types")

describe("the types of GGUF's tensors", function()
  it("have numbers and names of their own, and blocks that the runtime can hold", function()
    local seen = {}
    for _, each in ipairs(gguf_types.list) do
      assert.is_nil(seen[each.id])
      assert.is_nil(seen[each.name])
      seen[each.id], seen[each.name] = true, true
      assert.is_true(each.elements <= 256 and each.bytes > 0)
      assert.equal(each, gguf_types.by_name[each.name])
    end
    assert.equal("F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ2_XXS, IQ2_XS, IQ3_XXS, "
      .. "IQ4_NL, IQ3_S, IQ2_S, IQ4_XS, F64, BF16 or MXFP4", gguf_types.readable)
  end)
end)
