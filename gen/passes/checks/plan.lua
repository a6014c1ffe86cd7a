-- plan.lua: checks a plan.
local alike = require("common.alike")
local all_regions = require("passes.common.regions")
local check_storage = require("passes.checks.storage")
local each_op = require("passes.common.region_ops")
local expect = require("passes.checks.expect")

-- True if the panels that a product takes at a time are whole panels of its weight.
local function is_divided(taken, panels)
  local number = 0
  for _, width in ipairs(taken.widths) do
    repeat
      number = number + 1
      width = width - (panels.widths[number] or math.huge)
    until width <= 0
    if width < 0 then return false end
  end
  return number == #panels.widths
end

--- Checks that every op is in exactly one region, that products have the panels of their weights, and that the
--- storage is right.
return function(state)
  local found, memoise = {}, alike.memoiser()
  local function mark(op)
    expect(not found[op], "plan", "%s is planned twice", op.result.name)
    found[op] = true
  end
  for region in all_regions(state.plan.segments) do
    each_op(region, mark)
    for _, fusion in ipairs(region.fusions) do
      if fusion.panels then
        local leading = fusion.leading
        local panels = state.weights.layouts[leading.operands.weight.name].each
        expect((fusion.panels.pairs_of or fusion.panels) == panels
          and memoise("is divided", is_divided, fusion.panels, panels), "plan", "the panels of %s", leading.result.name)
      end
    end
  end
  for _, op in ipairs(state.graph.entry.ops) do expect(found[op], "plan", "%s is not planned", op.result.name) end
  check_storage(state)
end
