-- schedule_spec: the order of steps, for one worker and for several, and what is counted.
local helper = require("tests.spec.helper")
local lower = require("lower")
local schedule = require("schedule")

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
    schedule.each(state.programs[1], function(step, _, _, worker, phase)
      assert.same({ 1, 0 }, { worker, phase })
      if step.form ~= "note" then after[#after + 1] = lower.step_text(step) end
    end)
    assert.same(before, after)
  end)

  it("counts calls, not notes or loops", function()
    local state = helper.tiny({ batch = 2 }, "schedule")
    local calls, others = 0, 0
    schedule.each(state.programs[1], function(step)
      if schedule.is_call(step) then calls = calls + 1 else others = others + 1 end
    end)
    assert.equal(calls, state.programs[1].lines)
    assert.is_true(others > 0)
  end)

  it("makes the same calls for any number of workers, each once", function()
    local function calls(threads)
      local list, workers = {}, {}
      local state = helper.tiny(with { threads = threads }, "schedule")
      schedule.each(state.programs[1], function(step, _, _, worker)
        workers[worker] = true
        if schedule.is_call(step) then
          list[#list + 1] = lower.step_text(step):gsub("@worker%d+", "")
        end
      end)
      table.sort(list)
      return list, #workers
    end
    local one = calls(1)
    for _, threads in ipairs { 2, 3, 4, 8 } do
      local list, workers = calls(threads)
      assert.same(one, list)
      assert.equal(threads, workers)
    end
  end)

  it("lets one worker do what is too small to divide", function()
    local state = helper.tiny({ threads = 8 }, "schedule")
    for _, segment in ipairs(state.programs[1].segments) do assert.equal("serial", segment.mode) end
  end)

  it("divides the work of a phase by cost", function()
    local cost = require("cost")
    local state = helper.tiny(with { threads = 4 }, "schedule")
    local totals = {}
    schedule.each(state.programs[1], function(step, _, _, worker)
      if schedule.is_call(step) then totals[worker] = (totals[worker] or 0) + cost.of(step) end
    end)
    local sum = 0
    for worker = 1, 4 do sum = sum + totals[worker] end
    for worker = 1, 4 do
      assert.is_true(totals[worker] > 0.15 * sum and totals[worker] < 0.35 * sum)
    end
  end)

  it("keeps a trace for one worker", function()
    local state = helper.tiny(with { threads = 4 }, "schedule")
    local trace = state.programs[#state.programs]
    assert.same({ "trace", 1 }, { trace.variant, trace.threads })
  end)
end)
