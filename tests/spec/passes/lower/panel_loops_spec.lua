-- panel_loops_spec: panels whose steps differ only in places at equal distances are lowered as one loop.
require("tests.spec.helper")
local panel_loops = require("passes.lower.panel_loops")

local kernel, constants, add, two = {}, {}, { {} }, { {}, {} }

local function operand(class, buffer, offset) return { class = class, buffer = buffer, offset = offset } end

-- Lowers `count` panels of three steps: a product of the weight w, a map with two more operands and one with one.
-- more: a change of the steps of panel i. Returns the program's steps, and how often a panel was lowered.
local function lowered(count, more, is_even)
  local self = setmetatable({ steps = {}, lines = 0, unit_number = 0 }, { __index = panel_loops })
  function self.count_step(of) of.lines = of.lines + 1 end
  local times = 0
  self:panels(count, is_even or false, function(i)
    times = times + 1
    self.unit_number = self.unit_number + 1
    local y = operand("arena", "y", 64 * i)
    local three = {
      { form = "product", kernel = kernel, outputs = 16,
        arguments = { a = operand("weight", "w", 4096 * i), b = operand("in", "x", 0), c = y } },
      { form = "map", constants = constants, elementwise = two, arguments = { y = operand("arena", "y", 64 * i),
        r = operand("arena", "q", 64 * i), r2 = operand("arena", "t", 512 + 64 * i) } },
      { form = "map", constants = constants, elementwise = add,
        arguments = { y = operand("arena", "y", 64 * i), r = operand("arena", "z", 128 * i) } },
    }
    if more then more(three, i) end
    for _, step in ipairs(three) do
      step.unit = self.unit_number
      self.steps[#self.steps + 1] = step
    end
  end)
  return self.steps, times, self
end

-- The numbers of panels of the loops, 1 for a panel that is in none.
local function counts(...)
  local numbers, steps = {}, lowered(...)
  for i = 1, #steps, 3 do
    numbers[#numbers + 1] = steps[i].panels and steps[i].panels.count or 1
    for j = i + 1, i + 2 do assert.equal(steps[i].panels, steps[j].panels) end
  end
  return numbers
end

local function change(panel, change_)
  return function(steps, i) if i >= panel then change_(steps, i) end end
end

describe("panels that are alike", function()
  it("are one loop, whose operands have the distance from panel to panel", function()
    for _, is_even in ipairs { true, false } do
      local steps, times, self = lowered(5, nil, is_even)
      assert.equal(3, #steps)
      assert.equal(is_even and 2 or 5, times)
      assert.equal(3, self.lines)
      assert.equal(5, self.unit_number)
      assert.same({ 4096, nil, 64 }, { steps[1].arguments.a.terms.panel, steps[1].arguments.b.terms.panel,
        steps[1].arguments.c.terms.panel })
      assert.equal(512, steps[2].arguments.r2.offset)
      assert.equal(128, steps[3].arguments.r.terms.panel)
      assert.equal(0, steps[3].arguments.r.offset)
    end
  end)

  it("are no loop if there is one", function() assert.same({ 1 }, counts(1)) end)

  it("end where a distance differs or is less than nothing", function()
    local function at(panel, number, name, offset)
      return change(panel, function(steps, i) steps[number].arguments[name].offset = offset(i) end)
    end
    assert.same({ 3, 3 }, counts(6, at(3, 2, "r", function(i) return 4096 + 64 * i end)))
    assert.same({ 2, 2 }, counts(4, at(2, 1, "a", function(i) return 4096 * (i - 2) end))) -- rows further on
    assert.same({ 1, 1, 1, 1 }, counts(4, at(0, 3, "r", function(i) return 4096 - 64 * i end)))
  end)

  it("end where a call, a buffer, or a loop around is another", function()
    assert.same({ 2, 2 }, counts(4, change(2, function(steps) steps[1].kernel = constants end)))
    assert.same({ 2, 2 }, counts(4, change(2, function(steps) steps[2].elementwise = add end)))
    assert.same({ 2, 2 }, counts(4, change(2, function(steps) steps[3].arguments.r.buffer = "other" end)))
    assert.same({ 2, 2 }, counts(4, change(2, function(steps) steps[1].arguments.b.terms = { s = 64 } end)))
    assert.same({ 2, 1 }, counts(3, change(2, function(steps) steps[3].arguments.r = nil end)))
    assert.same({ 1, 1 }, counts(2, change(0, function(steps) steps[3] = { form = "begin", arguments = {} } end)))
  end)

  it("are none where an integer is known to the call only", function()
    assert.same({ 1, 1 }, counts(2, change(0, function(steps) steps[3].arguments.r.is_value = true end)))
    assert.same({ 1, 1 }, counts(2, change(0, function(steps) steps[3].arguments.r = { symbol = "keys" } end)))
  end)
end)
