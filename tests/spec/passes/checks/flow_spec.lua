-- flow_spec: the walk of values stops where a chunk reads what another worker may have made in its own memory.
local helper = require("tests.spec.helper")
local checks = require("passes.checks")
local programs = require("passes.common.programs")

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

local heads = { context = 64, sequences = 2, mask = "causal", input = { stage = "tokens", vocab = 50 },
  output = { { stage = "vocabulary" } }, heads = 4, kv_heads = 2, d_model = 32 }

-- Halves the distance from head to head, or from group to group, of what the steps of heads write of a buffer; returns
-- how many operands that are.
local function narrow(program, buffer, symbol)
  local count = 0
  programs.each(program, function(step)
    for _, name in ipairs { "c", "y", "to" } do
      local operand = step.arguments and step.arguments[name]
      if operand and operand.buffer:find(buffer, 1, true) and operand.terms and operand.terms[symbol] then
        operand.terms[symbol], count = operand.terms[symbol] // 2, count + 1
      end
    end
  end)
  return count
end

describe("the walk of values", function()
  it("finds heads of a loop that write over one another", function()
    local state = helper.tiny(heads, "memory")
    checks.memory(state)
    assert.is_true(narrow(state.programs[1], "l0.attn.context", "head") > 0)
    assert.matches("reads l0.attn.context%S* before it is written", helper.defect(checks.memory, state))
  end)

  it("finds a chunk that reads what another worker may have left in its own buffer", function()
    local state = helper.tiny(large, "memory")
    checks.memory(state)
    move_softmax(state.programs[1])
    assert.matches("reads l0%S+, which another worker has overwritten", helper.defect(checks.memory, state))
  end)
end)
