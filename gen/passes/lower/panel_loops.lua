-- panel_loops.lua: lowers consecutive panels of a product as one panel loop, whose steps are the first panel's.
-- These are methods of the lowering. The plan says which panels are alike. A loop has only calls, whose operands are
-- equal distances apart; where keys or values are packed by heads, they are so for some panels only.
local of_kind = require("passes.lower.of_kind")
local operands = require("data.operands")
local programs = require("passes.common.programs")

local panel_loops = {}

--- Returns the steps that body() emits. They are not added to the program.
function panel_loops:steps_of(body)
  local outer, lines = self.steps, self.lines
  self.steps = {}
  body()
  local list = self.steps
  self.steps, self.lines = outer, lines
  return list
end

--- Adds such steps to the program.
function panel_loops:add_steps(list)
  for _, step in ipairs(list) do
    self.steps[#self.steps + 1] = step
    if programs.is_call(step) then self:count_step() end
  end
end

-- Returns the steps that body(number) emits. They stay in the current unit, and are not added to the program.
local function steps_of(self, body, number)
  local unit = self.unit_number
  local list = self:steps_of(function() body(number) end)
  self.unit_number = unit
  return list
end

-- Calls visit(operand, other) for each operand of two lists of calls; returns whether the lists differ in nothing else,
-- and visit is true for all.
local function each_pair(list, others, visit)
  if #list ~= #others then return false end
  for i, step in ipairs(list) do
    local other = others[i]
    if not programs.is_call(step) or step.form ~= other.form or step.fn ~= other.fn or step.kernel ~= other.kernel
      or step.constants ~= other.constants or step.elementwise ~= other.elementwise
      or step.outputs ~= other.outputs then
      return false
    end
    for name, operand in pairs(step.arguments) do
      local theirs = other.arguments[name]
      if not operand ~= not theirs or operand and not visit(operand, theirs) then return false end
    end
  end
  return true
end

-- True if an operand is `number` strides after that of the first panel. Its own stride is that of the second panel.
local function is_after(operand, other, number)
  if not operand.buffer or operand.is_value or not operands.same_buffer(operand, other) then return false end
  local distance = other.offset - operand.offset
  if number == 1 then operand.each = distance end
  return distance >= 0 and distance == number * operand.each
end

-- Makes the steps of a first panel the steps of a loop.
local function begin_loop(list, count, is_whole)
  local panels = { count = count, is_whole = is_whole }
  for _, step in ipairs(list) do
    step.panels = panels
    for _, operand in pairs(step.arguments) do
      if operand and operand.each then
        local terms = { panel = operand.each > 0 and operand.each or nil }
        for symbol, stride in pairs(operand.terms or {}) do terms[symbol] = stride end
        operand.terms, operand.each = terms, nil
      end
    end
  end
end

--- Emits the steps of body(number) for `count` panels that are alike, numbered from 0. is_even: all of their operands
--- are equal distances apart, so that the second panel gives the distances; it does, too, where another region of this
--- one's kind has shown that they are. is_whole: they stay in one unit. A kind has a table, number of the first
--- panel of a loop -> that after its last. Panels in the steps of a head have none.
function panel_loops:panels(count, is_even, body, is_whole)
  local number, known = 0, self.in_heads and {} or of_kind.known(self, "panels")
  while number < count do
    local first, stop = steps_of(self, body, number), number + 1
    local function continues(panel)
      return each_pair(first, steps_of(self, body, panel), function(operand, other)
        return is_after(operand, other, panel - number)
      end)
    end
    local last = is_even and count or known[number]
    while stop < (last or count) and continues(stop) do stop = last or stop + 1 end
    known[number] = stop
    if stop - number > 1 or first[1].choices then begin_loop(first, stop - number, is_whole) end
    self:add_steps(first)
    self.unit_number = first[#first].unit + (is_whole and 0 or stop - number - 1)
    number = stop
  end
end

return panel_loops
