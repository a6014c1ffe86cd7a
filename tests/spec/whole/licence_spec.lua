-- licence_spec: the licence at the top of the repository is what a program prints with
-- `info --licenses`.
local helper = require("tests.spec.helper")

describe("LICENSE", function()
  it("has the words that programs print", function()
    local source = helper.read(helper.root .. "/runtime/program/licenses.c")
    local notice = source:match("attn2c_notice%[%] =\n(.-);\n\n")
    local text = {}
    for line in notice:gmatch("[^\n]+") do
      text[#text + 1] = line:match('^%s*"(.*)"$'):gsub("\\n", "\n"):gsub('\\"', '"')
    end
    assert.equal(table.concat(text), helper.read(helper.root .. "/LICENSE"))
  end)
end)
