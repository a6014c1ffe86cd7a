-- licence_spec: the licence at the top of the repository is what a program prints with
-- `info --licenses`.
local helper = require("tests.spec.helper")

describe("LICENSE", function()
  it("has the words that programs print", function()
    local notice = helper.read(helper.root .. "/runtime/program/licenses/attn2c.txt")
    assert.equal(notice, helper.read(helper.root .. "/LICENSE"))
  end)
end)
