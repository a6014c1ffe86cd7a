-- checks.lua: the checker that runs after each pass, a file each in checks/. It recomputes what it
-- checks from what the pass made. What it finds is a defect of the compiler, never of a description.
local checks = {}

for _, pass in ipairs { "graph", "plan", "lower", "schedule", "memory", "kernels", "emit" } do
  checks[pass] = require("passes.checks." .. pass)
end

return checks
