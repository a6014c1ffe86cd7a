-- rectangles.lua: keeps sets of bytes (or elements) of one buffer as lists of rectangles.
-- A rectangle is { top, bottom, left, right } in rows of `pitch` bytes; bottom and right are exclusive.
local rectangles = {}

local least, most = math.min, math.max

-- Appends the rectangles of the elements [first, last), which may continue over the ends of rows.
local function of_interval(first, last, pitch, list)
  local top, left = first // pitch, first % pitch
  local count = last - first
  if left + count <= pitch then
    list[#list + 1] = { top, top + 1, left, left + count }
    return
  end
  if left > 0 then
    list[#list + 1] = { top, top + 1, left, pitch }
    top, count = top + 1, count - (pitch - left)
  end
  local whole = count // pitch
  if whole > 0 then list[#list + 1] = { top, top + whole, 0, pitch } end
  if count % pitch > 0 then list[#list + 1] = { top + whole, top + whole + 1, 0, count % pitch } end
end

--- Returns boxes of footprint.lua, `offset` elements further, as rectangles of a buffer.
function rectangles.of(boxes, pitch, offset)
  local list = {}
  for i = 1, #boxes do
    local box = boxes[i]
    local start = box.first + offset
    local ld = box.rows == 1 and pitch or box.ld
    -- Rows of the box that are next to each other in one of the buffer, such as a row's choices of experts.
    local across = ld > 0 and pitch // ld or 0
    if across * ld == pitch and start % ld + box.cols <= ld then
      for row = 0, least(across, box.rows) - 1 do
        local first = start + row * ld
        local top, left = first // pitch, first % pitch
        list[#list + 1] = { top, top + (box.rows - row + across - 1) // across, left, left + box.cols }
      end
    else
      for row = 0, box.rows - 1 do
        local first = start + row * box.ld
        of_interval(first, first + box.cols, pitch, list)
      end
    end
  end
  return list
end

-- Returns the union of two rectangles if it is a rectangle, else nil.
local function joined(a, b)
  if a[3] == b[3] and a[4] == b[4] and a[1] <= b[2] and b[1] <= a[2] then
    return { least(a[1], b[1]), most(a[2], b[2]), a[3], a[4] }
  elseif a[1] == b[1] and a[2] == b[2] and a[3] <= b[4] and b[3] <= a[4] then
    return { a[1], a[2], least(a[3], b[3]), most(a[4], b[4]) }
  end
  return nil
end

local function within(a, b) return a[1] >= b[1] and a[2] <= b[2] and a[3] >= b[3] and a[4] <= b[4] end

function rectangles.add(set, new)
  local i = 1
  while i <= #set do
    local old = set[i]
    local do_touch = old[1] <= new[2] and new[1] <= old[2] and old[3] <= new[4] and new[3] <= old[4]
    if do_touch and within(new, old) then return end
    local both = do_touch and (within(old, new) and new or joined(old, new))
    if both then -- the larger rectangle may touch others now
      table.remove(set, i)
      new, i = both, 1
    else
      i = i + 1
    end
  end
  set[#set + 1] = new
end

--- True if two rectangles have an element in common.
function rectangles.overlap(a, b) return a[1] < b[2] and b[1] < a[2] and a[3] < b[4] and b[3] < a[4] end

-- Returns the rectangles of `a` without `b`, which overlaps it.
local function without(a, b)
  local list = {}
  local top, bottom = math.max(a[1], b[1]), math.min(a[2], b[2])
  if a[1] < top then list[#list + 1] = { a[1], top, a[3], a[4] } end
  if bottom < a[2] then list[#list + 1] = { bottom, a[2], a[3], a[4] } end
  if a[3] < b[3] then list[#list + 1] = { top, bottom, a[3], b[3] } end
  if b[4] < a[4] then list[#list + 1] = { top, bottom, b[4], a[4] } end
  return list
end

--- True if a set contains all of a rectangle. from: the index of the first rectangle of the set to look at.
function rectangles.covers(set, wanted, from)
  for i = from or 1, #set do
    local each = set[i]
    if rectangles.overlap(each, wanted) then
      if within(wanted, each) then return true end
      for _, rest in ipairs(without(wanted, each)) do
        if not rectangles.covers(set, rest, i + 1) then return false end
      end
      return true
    end
  end
  return false
end

function rectangles.remove(set, gone)
  for i = #set, 1, -1 do
    local each = set[i]
    if rectangles.overlap(each, gone) then
      table.remove(set, i)
      for _, rest in ipairs(without(each, gone)) do set[#set + 1] = rest end
    end
  end
end

return rectangles
