-- head_loops.lua: lowers the heads of a sequence as one loop, whose steps are the first head's.
-- This is a method of the lowering. Heads are alike if they have the same steps, and their operands are equal distances
-- apart: from head to head, and from each group of heads that share keys and values to the next. Others are written
-- out, such as those with a slope of their own.
local of_kind = require("passes.lower.of_kind")
local words = require("common.words")

local head_loops = {}

-- Members of a step that may differ from head to head.
local of_origin = words.set { "op", "unit", "block", "task", "text", "panels" }
local of_place, NONE = { offset = true }, {}

-- True if two steps are of no panel loop, or of loops over equally many panels. known: loop of `step` -> that of the
-- other; a loop has one.
local function are_panels_like(step, other, known)
  local panels, theirs = step.panels, other.panels
  if not panels or not theirs then return not panels and not theirs end
  known[panels] = known[panels] or theirs
  return known[panels] == theirs and panels.count == theirs.count
end

-- True if two steps differ in the places of their operands only.
local function is_like(step, other, known)
  if not are_panels_like(step, other, known) or step.kernel ~= other.kernel or step.constants ~= other.constants
    or step.elementwise ~= other.elementwise
    or not words.same_members(step, other, of_origin) then return false end
  for name, operand in pairs(step.arguments or {}) do
    local theirs = other.arguments[name]
    if not operand ~= not theirs or operand and not (words.same_members(operand, theirs, of_place)
      and words.same_members(operand.terms or NONE, theirs.terms or NONE)) then return false end
  end
  return words.same_members(step.sizes or NONE, other.sizes or NONE)
end

-- Returns the strides of an operand from head to head and from group to group, or nil if its places have none.
-- offset_of(i): its bytes in head i, from 0 on.
local function strides_of(offset_of, count, group)
  local of_head = offset_of(1) - offset_of(0)
  local of_group = 0
  if group == 1 then of_head, of_group = 0, of_head
  elseif count > group then of_group = offset_of(group) - offset_of(0) - group * of_head end
  if of_head < 0 or of_group < 0 then return nil end
  for i = 0, count - 1 do
    if offset_of(i) ~= offset_of(0) + i * of_head + i // group * of_group then return nil end
  end
  if group == 1 then of_head, of_group = of_group, 0 end
  return of_head, of_group
end

-- Returns the strides { of_head, of_group } of an operand; NONE if it is in the same place in all heads; nil if its
-- places are no equal distances apart. offset_of: as above.
local function terms_of(operand, offset_of, count, group)
  if not operand or not operand.buffer then return NONE end
  local of_head, of_group = strides_of(offset_of, count, group)
  if not of_head or operand.is_value and of_head + of_group > 0 then return nil end
  return of_head + of_group > 0 and { of_head, of_group } or NONE
end

-- Returns such strides for each argument of each step of the first of several heads; nil if the others are not like it.
local function strides_of_all(lists, group)
  local result, known = {}, words.map(lists, function() return {} end)
  for at, step in ipairs(lists[1]) do
    for i = 2, #lists do
      if #lists[i] ~= #lists[1] or not is_like(step, lists[i][at], known[i]) then return nil end
    end
    result[at] = {}
    for name, operand in pairs(step.arguments or NONE) do
      local function offset_of(i) return lists[i + 1][at].arguments[name].offset end
      result[at][name] = terms_of(operand, offset_of, #lists, group)
      if not result[at][name] then return nil end
    end
  end
  return result
end

-- Gives the operands of the first head's steps their strides, and returns the steps.
local function for_all(list, strides)
  local steps = {}
  for at, step in ipairs(list) do
    for name, of in pairs(strides[at]) do
      if of ~= NONE then
        local operand = step.arguments[name]
        local terms = { head = of[1] > 0 and of[1] or nil, kv_head = of[2] > 0 and of[2] or nil }
        for symbol, stride in pairs(operand.terms or NONE) do terms[symbol] = stride end
        step.arguments[name] = words.merged(operand, { terms = terms })
      end
    end
    if step.form ~= "note" then steps[#steps + 1] = step end
  end
  return steps
end

--- Emits the steps of body(i) for `count` heads, or groups of heads, numbered from 0; `group` of them share keys and
--- values. title: what a note calls them if they are one loop; nil: nothing. Where the heads of one region are a loop,
--- so are the heads of other regions of its kind, with the same strides.
function head_loops:heads(count, group, title, body)
  local known, lists, unit, outer = of_kind.known(self, "heads"), {}, self.unit_number, self.in_heads
  self.in_heads = true
  for i = 1, known.strides and 1 or count do lists[i] = self:steps_of(function() body(i - 1) end) end
  self.in_heads = outer
  local strides = known.strides or count > 1 and strides_of_all(lists, group)
  if not strides then
    for _, list in ipairs(lists) do self:add_steps(list) end
    return
  end
  known.strides, known.units = strides, known.units or self.unit_number - unit
  self.unit_number = unit + known.units
  local steps = for_all(lists[1], strides)
  if title then self:note(title) end
  self:loop("heads", { count = count, group = group }, function() self:add_steps(steps) end)
end

return head_loops
