-- gguf_types_spec.lua: the types of GGUF's tensors: no number or name occurs twice, blocks are whole.
local helper = require("tests.spec.helper")
local gguf_types = require("common.gguf_types")

describe("the types of GGUF's tensors", function()
  it("have numbers and names of their own, and blocks that the runtime can hold", function()
    local seen, readable = {}, {}
    for _, each in ipairs(gguf_types.list) do
      assert.is_nil(seen[each.id])
      assert.is_nil(seen[each.name])
      seen[each.id], seen[each.name] = true, true
      assert.is_true(each.elements <= 256 and each.bytes > 0)
      assert.equal(each, gguf_types.by_name[each.name])
      if each.is_readable then readable[#readable + 1] = each.name end
    end
    local said = helper.read(helper.root .. "/runtime/formats/gguf_types.h"):match("ATTN2C_GGUF_READABLE(.-)/%*")
    assert.equal(table.concat(readable, ", "), said:gsub("[\\\n\"]", ""):gsub(" +", " "):gsub("^ ", "")
      :gsub(" or ", ", ").."")
  end)
end)
