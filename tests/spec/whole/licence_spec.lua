-- licence_spec: the licence at the top of the repository is what a program prints with
-- `info --licenses`.
local helper = require("tests.spec.helper")

describe("LICENSE", function()
  it("has the words that programs print", function()
    local source = helper.read(helper.root .. "/runtime/program/licenses.c")
    local text = {}
    for _, part in ipairs { source:match("attn2c_notice%[%] =(.-);\n"), source:match("#define MIT_TERMS(.-)\n\n") } do
      for line in part:gmatch('"([^\n]*)"') do text[#text + 1] = line:gsub("\\n", "\n"):gsub('\\"', '"') end
    end
    assert.equal(table.concat(text), helper.read(helper.root .. "/LICENSE"))
  end)
end)
