-- schedule_spec: the order of steps, for one worker and for several, and what is counted.
local helper = require("tests.spec.helper")
local panel_loops = require("passes.common.panel_loops")
local programs = require("passes.common.programs")
local step_text = require("data.step_text")
local schedule = require("passes.schedule")

-- Large enough that several workers are faster; a few dozen steps a layer.
local large = { seq = 128, d_model = 256, heads = 4, d_ff = 512, layers = 1 }

local function with(more)
  local result = {}
  for key, value in pairs(large) do result[key] = value end
  for key, value in pairs(more) do result[key] = value end
  return result
end

describe("the schedule", function()
  it("of one worker is the order of lowering, in one list", function()
    local state = helper.tiny({ mask = "causal" }, "lower")
    local before = helper.step_texts(state.programs[1])
    schedule.run(state)
    local after = {}
    programs.each(state.programs[1], function(step, _, _, chunk, phase)
      assert.same({ 1, 0 }, { chunk, phase })
      if step.form ~= "note" then after[#after + 1] = step_text.of(step) end
    end)
    assert.same(before, after)
  end)

  it("counts calls, not notes or loops", function()
    local state = helper.tiny({ batch = 2 }, "schedule")
    local calls, others = 0, 0
    programs.each(state.programs[1], function(step)
      if programs.is_call(step) then calls = calls + 1 else others = others + 1 end
    end)
    assert.equal(calls, state.programs[1].lines)
    assert.is_true(others > 0)
  end)

  it("makes the same calls for any number of workers, each once", function()
    local function calls(threads)
      local list, most, part = {}, 0, panel_loops.parts()
      local state = helper.tiny(with { threads = threads }, "schedule")
      programs.each(state.programs[1], function(step, _, _, chunk)
        most = math.max(most, chunk)
        for panel = 0, programs.is_call(step) and panel_loops.count(step) - 1 or -1 do
          list[#list + 1] = step_text.of(part(step, panel, 1))
        end
      end)
      table.sort(list)
      return list, most
    end
    local one = calls(1)
    for _, threads in ipairs { 2, 3, 4, 8 } do
      local list, most = calls(threads)
      assert.same(one, list)
      assert.is_true(most > threads)
    end
  end)

  it("makes several chunks for each worker, or one where they would be short", function()
    local function chunks(plan)
      plan.token_block = 128 -- one block, so panels are divided
      local phases = helper.tiny(with { threads = 2, plan = plan }, "schedule").programs[1].segments[1].phases
      local counts = {}
      for i, phase in ipairs(phases) do
        counts[i] = #phase.chunks
        for _, list in ipairs(phase.chunks) do assert.is_true(#list > 0) end
      end
      return counts
    end
    local several, short, three = chunks {}, chunks { least_chunk = 1 << 40 }, chunks { chunks = 3 }
    assert.equal(8, several[1])
    assert.equal(6, three[1])
    for i, count in ipairs(short) do assert.equal(math.min(2, several[i]), count) end
  end)

  it("lets one worker do what is too small to divide", function()
    local state = helper.tiny({ threads = 8 }, "schedule")
    for _, segment in ipairs(state.programs[1].segments) do assert.equal("serial", segment.mode) end
  end)

  it("tells of every model whether a second worker pays", function()
    local function saved(more) return helper.tiny(more, "schedule").saved_by_two end
    assert.equal(0, saved {})
    assert.equal(0, saved { threads = 8 })
    for _, threads in ipairs { 1, 2, 4 } do
      local share = saved(with { threads = threads })
      assert.is_true(share > 0.3 and share <= 0.5, share)
      assert.equal(saved(with { threads = 1 }), share)
    end
    local micro_batches = saved(with { batch = 4, plan = { group_tokens = 8, least_phase = 0, least_team = 0 } })
    assert.equal(0.5, micro_batches)
    assert.equal(0, saved { batch = 4, plan = { group_tokens = 8 } })
  end)

  it("divides the work of a phase by cost", function()
    local cost = require("passes.schedule.cost")
    local state = helper.tiny(with { threads = 4, plan = { chunks = 1 } }, "schedule")
    local totals = {}
    programs.each(state.programs[1], function(step, _, _, chunk)
      if programs.is_call(step) then totals[chunk] = (totals[chunk] or 0) + cost.of(step) end
    end)
    local sum = 0
    for chunk = 1, 4 do sum = sum + totals[chunk] end
    for chunk = 1, 4 do
      assert.is_true(totals[chunk] > 0.15 * sum and totals[chunk] < 0.35 * sum)
    end
  end)

  it("gives each of two workers one of two like parts", function()
    local cost = require("passes.schedule.cost")
    local state = helper.tiny(with { threads = 2, plan = { token_block = 64, chunks = 1 } }, "schedule")
    local totals = { 0, 0 }
    programs.each(state.programs[1], function(step, _, _, chunk)
      if programs.is_call(step) then totals[chunk] = totals[chunk] + cost.of(step) end
    end)
    assert.is_true(math.abs(totals[1] / totals[2] - 1) < 0.05, totals[1] .. " and " .. totals[2])
  end)

  it("does not let a block overwrite what is still read under another name", function()
    -- norm_cross lies over attn.out, of which there is one block at a time; three blocks are not divided in two.
    local state = helper.tiny({ threads = 2, seq = 12, norm = "pre", residual = false, memory = { seq = 4 },
      plan = { token_block = 4, least_phase = 0 } }, "schedule")
    local buffers = state.programs[1].buffers
    assert.equal("l0.attn.out", buffers["l0.norm_cross"].over)
    local phase_of = {}
    programs.each(state.programs[1], function(step, _, _, _, phase)
      if programs.is_call(step) then
        local text = step_text.of(step)
        if text:find("l0.cross.q.weight", 1, true) then phase_of.read = phase_of.read or phase end
        if text:find("l0.attn.out.weight", 1, true) then phase_of[#phase_of + 1] = phase end
      end
    end)
    assert.equal(3, #phase_of)
    assert.is_true(phase_of[1] < phase_of.read and phase_of.read < phase_of[2])
  end)

  it("has no phase for a section that takes no step", function()
    local state = helper.tiny({ input = { stage = "qkv" }, projections = false, kv_layout = "heads_first", threads = 2,
      seq = 32, mask = "none", plan = { least_phase = 0, least_team = 0 } }, "schedule")
    local count = 0
    for _, program in ipairs(state.programs) do
      for _, segment in ipairs(program.segments) do
        for _, phase in ipairs(segment.phases or {}) do
          count = count + 1
          local steps = 0
          for _, list in ipairs(phase.chunks) do steps = steps + #list end
          assert.is_true(steps > 0)
        end
      end
    end
    assert.is_true(count > 0)
  end)

  it("has waiting workers ask for the first panels of their run in the next phase that reads weights", function()
    local function program(stock)
      local state = helper.state(helper.description { threads = 2, seq = { any = 300 }, heads = 4, d_model = 64,
        d_ff = 320, plan = { stock = stock } }, "schedule")
      return state.programs[1], state.weights.offsets
    end
    local divided, offsets = program(4096)
    local phases = divided.segments[1].phases
    local first_of = {} -- by phase and worker, the place of the first weights of its run
    for i, phase in ipairs(phases) do
      for worker = 0, 1 do
        local list = #phase.chunks > 1 and phase.chunks[#phase.chunks * worker // 2 + 1] or {}
        for _, step in ipairs(list) do
          if step.form == "product" and step.arguments.a.class == "weight" then
            local a = step.arguments.a
            first_of[i] = first_of[i] or {}
            first_of[i][worker + 1] = first_of[i][worker + 1] or offsets[a.buffer] + a.offset
          end
        end
      end
    end
    local after, seen
    for i = #phases, 1, -1 do
      assert.equal(after ~= nil, phases[i].stocks ~= nil)
      for worker, stock in ipairs(phases[i].stocks or {}) do
        assert.equal(after[worker], stock.at)
        assert.is_true(stock.bytes > 0 and stock.bytes <= 4096)
        seen = true
      end
      after = first_of[i] and #first_of[i] == 2 and first_of[i] or after
    end
    assert.is_true(seen)
    for _, phase in ipairs(program(0).segments[1].phases) do assert.is_nil(phase.stocks) end
  end)

  it("keeps a trace for one worker", function()
    local state = helper.tiny(with { threads = 4 }, "schedule")
    local trace = state.programs[#state.programs]
    assert.same({ "trace", 1 }, { trace.variant, trace.threads })
  end)
end)
