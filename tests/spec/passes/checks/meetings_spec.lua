-- meetings_spec: the checker after schedule stops at a plan whose barriers are not those that the data needs, and at a
-- schedule that does not obey the plan.
local helper = require("tests.spec.helper")
local checks = require("passes.checks")
local schedule = require("passes.schedule")

local divided = { threads = 2, seq = 12, plan = { token_block = 4, least_phase = 0, least_team = 0 } }

-- The plan's records of a region for two workers.
local function records(state, region) return state.plan.segments[1].sections[1].regions[region].partition[2] end

-- Returns the checker's finding for a schedule of a plan that was spoilt.
local function finds(spoil, more)
  local state = helper.tiny(more or divided, "lower")
  spoil(state)
  schedule.run(state)
  return helper.defect(checks.schedule, state)
end

describe("the checker of meetings", function()
  it("lets a sound plan pass", function()
    local state = helper.tiny(divided, "schedule")
    assert.equal("phases", state.programs[1].segments[1].mode)
    checks.schedule(state)
  end)

  it("finds a barrier that the data needs and the plan does not name", function()
    assert.matches("layer 0: l0.attn.scores needs a barrier for l0.attn.%S+, which the plan does not name",
      finds(function(state) records(state, 2)[1].meeting = "none" end))
  end)

  it("finds a missing barrier before a tile is filled again", function()
    -- l0.norm_cross is written over l0.attn.out, of which there is one block at a time.
    local over = { threads = 2, seq = 12, norm = "pre", residual = false, memory = { seq = 4 },
      plan = { token_block = 4, least_phase = 0, least_team = 0 } }
    assert.matches("l0.attn.out needs a barrier for l0.attn.out, which the plan does not name", finds(function(state)
      local region = state.plan.segments[1].sections[1].regions[3]
      assert.equal("l0.attn.out", region.fusions[1].result.name)
      assert.equal("barrier", region.partition[2][#region.fusions + 1].meeting)
      region.partition[2][#region.fusions + 1].meeting = "none"
    end, over))
  end)

  it("finds a barrier that nobody needs", function()
    local message = "layer 0: the plan names a barrier before l0.attn.k, which nobody needs"
    assert.matches(message, finds(function(state) records(state, 1)[2].meeting = "barrier" end))
    assert.matches("before l0.attn.q, which nobody needs", finds(function(state)
      records(state, 1)[1].meeting = "barrier" -- workers have met before the section
    end))
  end)

  it("finds workers that go on with rows where they have none of their own", function()
    assert.matches("workers go on with rows before l0.attn.scores",
      finds(function(state) records(state, 2)[1].meeting = "own" end))
  end)

  it("lets them go on, chunk by chunk, where a call divides rows", function()
    local words = { threads = 2, context = 32, mask = "causal", norm = "pre", positions = "rope", precision = "int8",
      target = "avx2", input = { stage = "tokens", vocab = 9 } }
    local state = helper.tiny(words, "schedule")
    checks.schedule(state)
    local most = 0
    for _, phase in ipairs(state.programs[1].segments[1].phases) do
      local tasks, count = {}, 0
      for _, step in ipairs(phase.claimed and phase.steps or {}) do if step.task then tasks[step.task] = true end end
      for _ in pairs(tasks) do count = count + 1 end
      most = math.max(most, count)
    end
    assert.equal(2, most) -- rotations of queries and keys
  end)

  it("finds a schedule that has not the plan's phases", function()
    local state = helper.tiny(divided, "schedule")
    local phases = state.programs[1].segments[1].phases
    phases[1].chunks, phases[2].chunks = phases[2].chunks, phases[1].chunks
    assert.matches("phase 1 has a step of another phase of the plan", helper.defect(checks.schedule, state))
  end)
end)
