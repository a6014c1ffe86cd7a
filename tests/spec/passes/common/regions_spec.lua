-- regions_spec: all regions of a plan, in order, each with its segment.
require("tests.spec.helper")
local all_regions = require("passes.common.regions")

describe("the regions of a plan", function()
  it("come segment by segment, section by section", function()
    local segments = { { name = "a", sections = { { regions = { 1, 2 } }, { regions = {} } } },
      { name = "b", sections = { { regions = { 3 } } } } }
    local list = {}
    for region, segment in all_regions(segments) do list[#list + 1] = segment.name .. region end
    assert.same({ "a1", "a2", "b3" }, list)
    for _ in all_regions({}) do error("there is none") end
  end)
end)
