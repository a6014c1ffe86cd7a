-- plan.lua: checks a plan.
local expect = require("passes.checks.expect")
local all_regions = require("passes.common.regions")

--- Checks that every op is in exactly one region, and that panels and blocks cover their sizes.
return function(state)
  local found = {}
  local function mark(op)
    expect(not found[op], "plan", "%s is planned twice", op.result.name)
    found[op] = true
  end
  for region in all_regions(state.plan.segments) do
    for _, fusion in ipairs(region.fusions) do
      mark(fusion.leading)
      for _, op in ipairs(fusion.epilogue) do mark(op) end
      for _, op in ipairs(fusion.ends) do mark(op) end
      if fusion.panels then
        local outputs = 0
        for _, width in ipairs(fusion.panels.widths) do outputs = outputs + width end
        local k, weight, name = fusion.k_blocks, fusion.leading.operands.weight, fusion.leading.result.name
        expect(outputs == weight.shape[1], "plan", "the panels of %s", name)
        expect(k.size * k.count + k.tail == weight.shape[2], "plan", "the K blocks of %s", name)
      end
    end
    for _, op in ipairs(region.ops or {}) do mark(op) end
    if region.round then mark(region.round) end
  end
  for _, op in ipairs(state.graph.entry.ops) do
    expect(found[op], "plan", "%s is not planned", op.result.name)
  end
end
