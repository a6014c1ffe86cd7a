-- What must hold of a plan.
local expect = require("passes.checks.expect")

--- Every op is in exactly one region; panels and blocks cover.
return function(state)
  local found = {}
  local function mark(op)
    expect(not found[op], "plan", "%s is planned twice", op.result.name)
    found[op] = true
  end
  for _, segment in ipairs(state.plan.segments) do
    for _, section in ipairs(segment.sections) do
      for _, region in ipairs(section.regions) do
        for _, group in ipairs(region.groups) do
          mark(group.head)
          for _, rider in ipairs(group.riders) do mark(rider) end
          if group.panels then
            local outputs = 0
            for _, width in ipairs(group.panels.widths) do outputs = outputs + width end
            expect(outputs == group.head.operands.weight.shape[1], "plan", "the panels of %s", group.head.result.name)
            local k = group.k_blocks
            expect(k.size * k.count + k.tail == group.head.operands.weight.shape[2], "plan", "the K blocks of %s",
              group.head.result.name)
          end
        end
        for _, op in ipairs(region.ops or {}) do mark(op) end
      end
    end
  end
  for _, op in ipairs(state.graph.entry.ops) do
    expect(found[op], "plan", "%s is not planned", op.result.name)
  end
end
