-- shapes_spec: shapes that are made from others.
require("tests.spec.helper")

local shapes = require("common.shapes")

describe("shapes", function()
  it("have rows, which may become wider; the given shape stays", function()
    local given = { 2, 3, 5 }
    assert.are.equal(6, shapes.rows(given))
    assert.are.equal(1, shapes.rows { 5 })
    assert.are.same({ 2, 3, 7 }, shapes.with_last(given, 7))
    assert.are.same({ 2, 3, 20 }, shapes.widened(given, 4))
    assert.are.same({ 2, 3, 5 }, given)
  end)
end)
