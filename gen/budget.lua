-- budget.lua: the budget of emitted steps, max_lines: a model over it is refused before it
-- costs time and memory. Its largest parts are counted from the plan; lowering counts all.
local faults = require("faults")
local words = require("words")

local budget = {}

-- Kernel calls of one tile of a product.
local function calls(group)
  return (group.k_order == "reduce" and 1 or group.k_blocks.count) + (group.k_blocks.tail > 0 and 1 or 0)
end

--- The kernel calls of a section's regions, which most of its steps are.
function budget.calls(regions)
  local n = 0
  for _, region in ipairs(regions) do
    for _, group in ipairs(region.groups) do
      if group.panels then n = n + #region.blocks * #group.panels.widths * calls(group) end
    end
    if region.kind == "attention" then n = n + 2 * #region.blocks * region.scores.attributes.heads end
  end
  return n
end

--- Refuses a model of about so many steps where the budget is lower.
function budget.hold(state, steps)
  local most = state.spec.max_lines
  if steps <= most then return end
  faults.raise("usage", ("%s: max_lines: the model unrolls to some %s steps, and the budget is %s; " ..
    "raise max_lines, or take fewer layers, a shorter seq or a smaller d_model"):format(state.file:gsub("%c", "?"),
    words.thousands(steps), words.thousands(most)))
end

return budget
