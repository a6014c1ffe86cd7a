-- touched.lua: collects the bytes that steps touch, as sets of rectangles, and tells which sets overlap.
local footprint = require("data.footprint")
local programs = require("passes.common.programs")
local rectangles = require("passes.checks.rectangles")

local touched = {}

--- Classes of buffers that steps write.
touched.classes = { arena = true, out = true }

--- Adds the bytes that a step touches in buffers that are written: sets[buffer][stride of b][access] is a set of
--- rectangles. Buffers that overlap on purpose count as one. is_own(name), if given, is true of buffers to leave out.
function touched.add(walk, sets, step, program, is_own)
  walk(step, function(operand, access, dimensions)
    if is_own and is_own(operand.buffer) then return end
    local slot = programs.slot(program.buffers, operand.buffer)
    local buffer = program.buffers[slot]
    sets[slot] = sets[slot] or {}
    local of_buffer, stride = sets[slot], (operand.terms or {}).b or 0
    of_buffer[stride] = of_buffer[stride] or { r = {}, w = {} }
    local set = of_buffer[stride][access == "r" and "r" or "w"]
    for _, rectangle in ipairs(rectangles.of(footprint.boxes(dimensions), buffer.pitch, operand.offset)) do
      rectangles.add(set, rectangle)
    end
  end, touched.classes)
end

function touched.moved(set, bytes, pitch)
  local rows, columns, list = bytes // pitch, bytes % pitch, {}
  for i, r in ipairs(set) do list[i] = { r[1] + rows, r[2] + rows, r[3] + columns, r[4] + columns } end
  return list
end

--- Returns a set of the first sequence as that of all sequences.
function touched.of_all(set, stride, count, pitch)
  if stride == 0 then return set end
  local all = {}
  for b = 0, count - 1 do
    for _, rectangle in ipairs(touched.moved(set, b * stride, pitch)) do rectangles.add(all, rectangle) end
  end
  return all
end

--- True if two sets have an element in common.
function touched.any_meet(a, b)
  for _, x in ipairs(a) do
    for _, y in ipairs(b) do if rectangles.overlap(x, y) then return true end end
  end
  return false
end

-- True if a set stays within one sequence. Two such sets that move by this stride overlap in no sequence unless they
-- overlap in the first.
local function keeps_to(set, stride, pitch)
  for _, r in ipairs(set) do
    if stride % pitch ~= 0 or r[1] < 0 or r[2] > stride // pitch then return false end
  end
  return true
end

--- True if two sets of one buffer have an element in common, in any of `count` sequences.
function touched.clash(one, stride_one, other, stride_other, count, pitch)
  if #one == 0 or #other == 0 then return false end
  local alike = stride_one == stride_other and stride_one > 0
  if alike and keeps_to(one, stride_one, pitch) and keeps_to(other, stride_one, pitch) then
    return touched.any_meet(one, other)
  end
  return touched.any_meet(touched.of_all(one, stride_one, count, pitch),
    touched.of_all(other, stride_other, count, pitch))
end

--- Adds the sets of a step or task to others.
function touched.merge(sets, more)
  for slot, by_stride in pairs(more) do
    sets[slot] = sets[slot] or {}
    for stride, set in pairs(by_stride) do
      local to = sets[slot][stride] or { r = {}, w = {} }
      sets[slot][stride] = to
      for access, list in pairs(set) do
        for _, rectangle in ipairs(list) do rectangles.add(to[access], rectangle) end
      end
    end
  end
end

return touched
