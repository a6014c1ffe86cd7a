-- checks.lua: collects the checkers that run after passes, a file each in checks/.
-- A checker recomputes the facts that it checks from the pass's result. A finding is a defect of the compiler, never
-- of a description.
local checks = {}

for _, pass in ipairs { "graph", "layout", "plan", "lower", "schedule", "memory", "kernels", "emit" } do
  checks[pass] = require("passes.checks." .. pass)
end

return checks
