-- flow_spec: the walk of values stops where a chunk reads what another worker may have made in its own memory.
local helper = require("tests.spec.helper")
local checks = require("passes.checks")

local large = { seq = 128, d_model = 256, heads = 4, d_ff = 512, threads = 2 }

-- Moves the first softmax that is not in a phase's last chunk to the beginning of the chunk after it.
local function move_softmax(program)
  for _, phase in ipairs(program.segments[1].phases) do
    for i = 1, #phase.chunks - 1 do
      for at, step in ipairs(phase.chunks[i]) do
        if step.fn == "softmax" then
          return table.insert(phase.chunks[i + 1], 1, table.remove(phase.chunks[i], at))
        end
      end
    end
  end
end

describe("the walk of values", function()
  it("finds a chunk that reads what another worker may have left in its own buffer", function()
    local state = helper.tiny(large, "memory")
    checks.memory(state)
    move_softmax(state.programs[1])
    assert.matches("reads l0%S+, which another worker has overwritten", helper.defect(checks.memory, state))
  end)
end)
