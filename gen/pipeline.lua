-- pipeline.lua: the compiler. Each pass is a file with run(state), which leaves what it made
-- in the state, and dump(state), its stable text; any pass may be the last. After each, a
-- checker (checks.lua) makes sure that what it made is sound.
local checks = require("checks")

local pipeline = {}

pipeline.passes = {
  "describe", -- file -> plain table
  "validate", -- table -> spec
  "graph",    -- spec -> named tensors and operations
  "plan",     -- fusion, tiles, mask blocks, layouts, storage
  "lower",    -- operations -> tile steps
  "schedule", -- steps -> ordered steps a worker
  "memory",   -- lifetimes -> offsets in one arena
  "kernels",  -- distinct kernel shapes and row operations
  "emit",     -- -> C text
}

--- Runs the passes up to `last` (default: all). root: the folder that holds gen/ and templates/; file: the
--- description; overrides: KEY=VALUE strings; tuning: where measured tile parameters come from (tuning.lua; nil:
--- nowhere).
--- Returns the state; state.notes: lines for the user. Raises faults (faults.lua) for what the user can mend.
function pipeline.run(root, file, overrides, last, tuning)
  local state = { root = root, file = file, overrides = overrides, tuning = tuning, notes = {} }
  for _, name in ipairs(pipeline.passes) do
    require(name).run(state)
    if checks[name] then checks[name](state) end
    if name == last then break end
  end
  return state
end

--- The stable text of what a pass made.
function pipeline.dump(state, name) return require(name).dump(state) end

return pipeline
