-- headers_spec.lua: the header that repeats tables of the compiler is up to date.
local helper = require("tests.spec.helper")
local headers = require("data.headers")
local types = require("data.types")

describe("the tables of the runtime", function()
  it("are the compiler's: make headers writes them", function()
    assert.equal(headers.text(), helper.read(helper.root .. "/" .. headers.path))
  end)

  it("differ if one number does", function()
    local before, record = headers.text(), types.all.q5m
    record.bit = record.bit + 1
    local after = headers.text()
    record.bit = record.bit - 1
    assert.not_equal(before, after)
    assert.equal(before, headers.text())
  end)
end)
