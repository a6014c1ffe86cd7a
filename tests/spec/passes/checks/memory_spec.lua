-- memory_spec: the checker after memory stops at buffers that have too few elements for what steps write in some call
-- of any length.
local helper = require("tests.spec.helper")
local checks = require("passes.checks")
local words = require("common.words")

local MOST = 300

-- Returns the state of a model of any length after memory. output: the stages of its output.
local function any(output, more)
  local description = { seq = { any = MOST }, mask = "causal", output = output }
  for key, value in pairs(more or {}) do description[key] = value end
  return helper.tiny(description, "memory")
end

-- Returns the checker's finding where a buffer of the shipped variant has `bytes`.
local function finds(state, name, bytes)
  local program = state.programs[1]
  assert.equal("ship", program.variant)
  program.buffers[name].bytes = bytes
  return helper.defect(checks.memory, state)
end

local several = { { stage = "pool", over = "first", name = "p" }, { stage = "linear", to = 24, name = "a" },
  { stage = "tanh", name = "b" } }

describe("memory of a call of any length", function()
  for threads = 1, 2 do
    local more = { threads = threads }
    local workers = (" (%d workers)"):format(threads)

    it("has room in the arena for an output of all sequences, if the caller does not want it" .. workers, function()
      for i = 1, 3 do
        local state = any(several, more)
        local name = state.programs[1].entry.outputs[i]
        local bytes = state.programs[1].buffers[name].bytes
        for _, sequences in ipairs { 1, MOST - 1 } do
          assert.matches("leaves " .. name:gsub("%p", "%%%0") .. ": bytes ", finds(state, name,
            bytes // MOST * sequences))
        end
      end
    end)

    it("has room for a row of each of the most sequences" .. workers, function()
      local state = any({ { stage = "pool", over = "mean" }, { stage = "linear", to = 24 } }, more)
      local buffers, found = state.programs[1].buffers, 0
      for _, name in ipairs(words.sorted_keys(buffers)) do
        if buffers[name].class == "arena" and name:find("%.pool") then
          local bytes = buffers[name].bytes
          assert.matches("leaves " .. name:gsub("%p", "%%%0"), finds(state, name, bytes // MOST * (MOST - 1)))
          buffers[name].bytes, found = bytes, found + 1
        end
      end
      assert.is_true(found > 0)
    end)
  end
end)
