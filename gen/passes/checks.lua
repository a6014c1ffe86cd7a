-- checks.lua: collects the checkers that run after passes, a file each in checks/.
-- A checker recomputes the facts that it checks from the pass's result. A finding is a defect of the compiler, never
-- of a description.
local words = require("common.words")

local is_checked = words.set { "graph", "layout", "plan", "lower", "schedule", "memory", "kernels", "emit" }

-- A checker is loaded after its pass: many descriptions are refused before.
return setmetatable({}, { __index = function(checks, pass)
  checks[pass] = is_checked[pass] and require("passes.checks." .. pass) or nil
  return rawget(checks, pass)
end })
