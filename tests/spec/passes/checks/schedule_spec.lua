-- schedule_spec: the checker after schedule stops at chunks of a call of any length that could not be done at the same
-- time.
local helper = require("tests.spec.helper")
local checks = require("passes.checks")
local instance = require("passes.checks.instance")
local operands = require("data.operands")
local schedule = require("passes.schedule")

local function any(more)
  local description = helper.description { threads = 2, seq = { any = 300 }, heads = 4, d_model = 32, d_ff = 80,
    mask = "causal" }
  for key, value in pairs(more or {}) do description[key] = value end
  return description
end

-- Returns the checker's finding for a divided program that was spoilt after lowering.
local function finds(spoil, more)
  local state = helper.state(any(more), "lower")
  spoil(state.programs[1], state)
  schedule.run(state)
  return helper.defect(checks.schedule, state)
end

local function each_call(program, visit)
  for _, segment in ipairs(program.segments) do
    for _, section in ipairs(segment.sections) do
      for _, step in ipairs(section.steps) do if operands.entry(step) then visit(step) end end
    end
  end
end

describe("phases of a call of any length", function()
  it("pass, in scopes whose chunks a call counts", function()
    local state = helper.state(any(), "memory")
    local claimed, stretches = {}, {}
    for _, phase in ipairs(state.programs[1].segments[1].phases) do
      if phase.claimed then claimed[phase.claimed.loop] = (claimed[phase.claimed.loop] or 0) + 1 end
      if stretches[#stretches] ~= phase.stretch then stretches[#stretches + 1] = phase.stretch end
    end
    assert.same({ slices = 2 }, claimed)
    assert.equal(3, #stretches)
    assert.is_true(state.programs[1].own["l0.attn.scores@keys"])
  end)

  it("are those of each block of rows, with as many chunks as the call needs", function()
    local program = helper.state(any { plan = { row_block = 10 } }, "memory").programs[1]
    local counts = {}
    for i, phase in ipairs(instance.of(program, { rows = 280, first = { 0, 280 }, flows = true }).segments[1].phases) do
      counts[i] = #phase.chunks
    end
    -- four blocks of 60 rows and one of 40: queries, keys and values; heads; two products and a norm, twice
    assert.equal("2 2 2 2 2 3" .. (" 1 6 2 1 6"):rep(4) .. " 1 4 2 1 4", table.concat(counts, " "))
  end)

  it("are checked in the longest call of whole blocks, as those of the longest call are smaller", function()
    local state = helper.state(any(), "memory")
    local rows = {}
    for _, call in ipairs(instance.calls(state.programs[1], state.spec)) do rows[call.rows] = true end
    assert.is_true(rows[300] and rows[256])
  end)

  it("leave what a later block reads", function()
    helper.state(any { layers = 2, d_ff = 400, norm = "post" }, "memory") -- its checker walks calls of two blocks
  end)

  it("find keys that workers share", function()
    assert.matches("two workers write the same elements of l0.attn.scores@keys", finds(function(program)
      program.buffers["l0.attn.scores@keys"].private = nil
    end))
  end)

  it("find rows of a block that are not those of the chunk", function()
    assert.matches("two workers write the same elements of l0%.attn%.sum", finds(function(program)
      each_call(program, function(step)
        if step.fn == "layer_norm" then
          for _, operand in pairs(step.arguments) do
            if operand and operand.terms then operand.terms.slice, operand.terms.row = nil, nil end
          end
        end
      end)
    end))
  end)

  it("find rows of sequences that are not those of the chunk", function()
    assert.matches("two workers write the same elements of", finds(function(program)
      each_call(program, function(step)
        if step.fn ~= "normalise" then return end
        for _, operand in pairs(step.arguments) do if operand and operand.terms then operand.terms.row = nil end end
      end)
    end, { output = { { stage = "pool", over = "mean" }, { stage = "normalise" } } }))
  end)

  it("are checked with two chunks of a block where other calls have one", function()
    -- Blocks of 129 rows are 100 and 29 rows, those of 101 rows have two chunks.
    assert.matches("two workers write the same elements of l0%.attn%.sum", finds(function(program)
      each_call(program, function(step)
        if step.fn ~= "layer_norm" then return end
        for _, operand in pairs(step.arguments) do
          if operand and operand.terms then operand.terms.slice, operand.terms.row = nil, nil end
        end
      end)
    end, { plan = { row_block = 100, token_block = 128 } }))
  end)

  it("find a phase that reads what it writes", function()
    assert.matches("is read and written in one phase", finds(function(_, state)
      local regions = state.plan.segments[1].sections[1].regions
      for _, record in ipairs(regions[#regions].partition[2]) do record.meeting = "none" end
    end, { activation = "relu", norm = "none" }))
  end)
end)
