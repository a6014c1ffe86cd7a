-- dump_spec: tables as stable text.
require("tests.spec.helper")
local dump = require("common.dump")

describe("a dump", function()
  it("has a line a leaf, keys sorted", function()
    assert.equal('a = 1\nb.1 = "x"\nb.2 = true\nc = {}\n', dump.table({ b = { "x", true }, a = 1, c = {} }))
  end)

  it("is safe on a terminal, and each line one", function()
    assert.equal('a?b = "c\\27d\\ne?f"\n', dump.table({ ["a\27b"] = "c\27d\ne\u{202E}f" }))
  end)

  it("ends where a table holds itself, or holds too much", function()
    local t = {}
    for i = 1, 100 do t[i] = t end
    assert.is_true(select(2, dump.table(t):gsub("\n", "")) <= 10000)
  end)
end)
