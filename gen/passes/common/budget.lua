-- budget.lua: refuses a model over its budget of emitted steps, max_lines, before it costs time and memory.
-- The largest parts are counted from the plan; lowering counts all.
local faults = require("common.faults")
local words = require("common.words")

local budget = {}

--- Returns the number of products of a section's regions, which are most of its steps. Panels of one width are one.
function budget.calls(regions)
  local n = 0
  for _, region in ipairs(regions) do
    for _, fusion in ipairs(region.fusions) do
      local last
      for _, width in ipairs(fusion.panels and fusion.panels.widths or {}) do
        n, last = n + (width ~= last and #region.blocks or 0), width
      end
    end
    if region.kind == "attention" then n = n + 2 * #region.blocks * region.scores.attributes.heads end
  end
  return n
end

--- Refuses a model of about `steps` steps if the budget is lower.
function budget.hold(state, steps)
  local most = state.spec.max_lines
  if steps <= most then return end
  faults.raise("usage", "%s: max_lines: the model unrolls to some %s steps, and the budget is %s; "
    .. "raise max_lines, or take fewer layers, a shorter seq or a smaller d_model", state.file, words.thousands(steps),
    words.thousands(most))
end

return budget
