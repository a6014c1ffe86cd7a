-- plan.lua: checks a plan.
local all_regions = require("passes.common.regions")
local check_storage = require("passes.checks.storage")
local each_op = require("passes.common.region_ops")
local expect = require("passes.checks.expect")

--- Checks that every op is in exactly one region, that products have the panels of their weights, and that the
--- storage is right.
return function(state)
  local found = {}
  local function mark(op)
    expect(not found[op], "plan", "%s is planned twice", op.result.name)
    found[op] = true
  end
  for region in all_regions(state.plan.segments) do
    each_op(region, mark)
    for _, fusion in ipairs(region.fusions) do
      if fusion.panels then
        local leading = fusion.leading
        expect(fusion.panels == state.weights.layouts[leading.operands.weight.name].each, "plan", "the panels of %s",
          leading.result.name)
      end
    end
  end
  for _, op in ipairs(state.graph.entry.ops) do expect(found[op], "plan", "%s is not planned", op.result.name) end
  check_storage(state)
end
