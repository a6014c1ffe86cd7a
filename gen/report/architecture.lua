-- architecture.lua: draws an entry's graph: inputs, outputs, and the operations of one layer of each kind.
-- Boxes and lines come from the graph. A layer of a kind has the number of its repeats. Operations that are done on
-- another operation's tile are drawn below it.
local common_words = require("common.words")
local numbers = require("report.numbers")
local op_words = require("report.op_words")
local ops = require("data.ops")
local svg = require("report.svg")
local work = require("report.work")

local architecture = {}

local LINE = 16 -- height of an operation that is done on another's tile

-- Returns a text of an operation without its layer's number, to find equal layers.
local function signature(each)
  return table.concat({ each.role, each.op.op, table.concat(each.op.result.shape, "x"),
    common_words.plain_members(each.op.attributes) }, " ")
end

--- Returns groups of sections in order: { title, repeats, list = the first section's operations, all = all sections' }.
--- Equal layers are one group.
function architecture.groups(list)
  local sections = {}
  for _, each in ipairs(list) do
    local last = sections[#sections]
    if not last or last.name ~= each.section then
      last = { name = each.section, list = {}, text = {} }
      sections[#sections + 1] = last
    end
    last.list[#last.list + 1] = each
    last.text[#last.text + 1] = signature(each)
  end
  local groups = {}
  for _, section in ipairs(sections) do
    local layer, stack = work.layer(section.name)
    local key = layer and stack .. "\n" .. table.concat(section.text, "\n") or nil
    local last = groups[#groups]
    if last and key and last.key == key then
      last.repeats, last.last = last.repeats + 1, layer
      common_words.append(last.all, section.list)
    else
      groups[#groups + 1] = { key = key, title = section.name, repeats = 1, first = layer, last = layer, stack = stack,
        list = section.list, all = common_words.append({}, section.list) }
    end
  end
  return groups
end

function architecture.title(group)
  if group.repeats == 1 then return group.title end
  return ("%slayers %d to %d: %d times"):format(group.stack, group.first, group.last, group.repeats)
end

-- Returns the short name of an operation's box, and the line below the name.
local function texts_of(each, room)
  local op, name = each.op, each.role
  local shape = op.result.shape
  local width = shape[#shape]
  local second
  if op.operands.weight and #op.operands.weight.shape == 2 then
    second = ("%s%d → %d"):format(room > 140 and op_words.of(op.op) .. " " or "", op.operands.weight.shape[2], width)
  elseif op.attributes["function"] then
    second = op.attributes["function"] .. (op.op == "pool" and " pool" or "")
  else
    second = op_words.of(op.op)
    if #shape == 4 then second = ("%s %d × %d"):format(second, shape[3], shape[4]) end
  end
  return name, second
end

local function tip_of(each)
  local op = each.op
  local text = ("%s: %s, %s; [%s] of %s, %s"):format(each.name, op_words.of(op.op),
    ops.table[op.op].equation, table.concat(op.result.shape, " × "), op.result.type,
    numbers.bytes(work.bytes(op.result)))
  local reads = {}
  for _, tensor in pairs(op.operands) do
    if tensor.kind ~= "weight" and tensor.kind ~= "constant" then reads[#reads + 1] = tensor.name end
  end
  table.sort(reads)
  if #reads > 0 then text = text .. ", of " .. table.concat(reads, ", ") end
  if op.flops > 0 then text = text .. ", " .. numbers.flops(op.flops) end
  if op.operands.weight then text = text .. (", weight [%s]"):format(table.concat(op.operands.weight.shape, " × ")) end
  if each.fused then text = text .. ", done on the tile of " .. each.fused.result.name end
  return text
end

-- Drops the line of a row's scale if the integers that were made with it go to the same box: one line is enough.
local function drop_scales(boxes)
  for _, box in ipairs(boxes) do
    local integers = {}
    for from in pairs(box.reads) do integers[#integers + 1] = from.each.op.op == "quantise" and from or nil end
    for _, from in ipairs(integers) do
      for other in pairs(from.reads) do
        if other.each.op.op == "row_scale" then box.reads[other] = nil end
      end
    end
  end
end

-- Returns rows of a group's boxes. A box is one row below its inputs, and a row wraps at `columns` boxes. near: tensors
-- outside the group from which lines are drawn. A box is { each, riders = operations done on its tile, reads, outside =
-- true if it has a line from `near`, far = names of its other inputs from elsewhere }.
local function rows_of(group, columns, near)
  local box_of, boxes, rank = {}, {}, {}
  for _, each in ipairs(group.list) do
    local host = each.fused and box_of[each.fused.result]
    if host then
      host.riders[#host.riders + 1] = each
      box_of[each.op.result] = host
    else
      local box = { each = each, riders = {}, reads = {}, far = {} }
      box_of[each.op.result] = box
      boxes[#boxes + 1] = box
    end
  end
  for _, each in ipairs(group.list) do
    local box = box_of[each.op.result]
    for _, tensor in pairs(each.op.operands) do
      local from = box_of[tensor]
      if from and from ~= box then box.reads[from] = true
      elseif not from and near[tensor] then box.outside = true
      elseif not from and tensor.kind ~= "weight" and tensor.kind ~= "constant" then
        box.far[#box.far + 1] = tensor.member or tensor.name
      end
    end
  end
  drop_scales(boxes)
  local rows, count = {}, {}
  for _, box in ipairs(boxes) do
    local r = 1
    for from in pairs(box.reads) do r = math.max(r, rank[from] + 1) end
    while (count[r] or 0) >= columns do r = r + 1 end
    rank[box], count[r] = r, (count[r] or 0) + 1
    common_words.add(rows, r, box)
    box.rank = r
  end
  -- A full row pushes later ones down. Empty rows are removed.
  local dense = {}
  for r = 1, 10000 do
    if rows[r] then
      dense[#dense + 1] = rows[r]
      for _, box in ipairs(rows[r]) do box.rank = #dense end
    elseif #dense == #boxes or r > #boxes then break end
  end
  return dense, boxes
end

-- True if the names in rows of three boxes, and of the operations below them, are readable at this width.
local function fits_three(rows, room)
  for _, row in ipairs(rows) do
    local width = (room - 24) / 3 - 6
    for _, box in ipairs(#row == 3 and row or {}) do
      if svg.text_width(box.each.role, 11) > width then return false end
      for _, rider in ipairs(box.riders) do
        local _, what = texts_of(rider, width)
        if svg.text_width("+ " .. what, 10) > width - 4 then return false end
      end
    end
  end
  return true
end

local BOX, GAP, SIDE = 34, 20, 46 -- height of a box; gap between rows; width for lines that pass boxes

local function draw_box(picture, box, x, y, width)
  local each = box.each
  local colour = work.colour[each.kind]
  picture:box(x, y, width, BOX + LINE * #box.riders, "t" .. colour, tip_of(each))
  local first, second = texts_of(each, width)
  if #box.far > 0 then
    table.sort(box.far)
    local far = "of " .. table.concat(box.far, ", ")
    local both = second .. ", " .. far
    second = svg.text_width(both, 10) <= width - 6 and both or far
  end
  picture:text(x + width / 2, y + 14, first, { anchor = "middle", width = width - 6, class = "strong" })
  picture:text(x + width / 2, y + 28, second, { anchor = "middle", width = width - 6, size = 10 })
  for i, rider in ipairs(box.riders) do
    local top = y + BOX + LINE * (i - 1)
    picture:rect(x + 3, top - 1, width - 6, LINE - 2, "plain", tip_of(rider))
    local _, what = texts_of(rider, width)
    picture:text(x + width / 2, top + 10, "+ " .. what, { anchor = "middle", width = width - 10, size = 10 })
  end
end

-- Draws a vertical arrow head at x, y.
local function head(picture, x, y) picture:path({ { x - 4, y - 6 }, { x, y }, { x + 4, y - 6 } }, "edge") end

-- Places rows from y on. Returns the y below them and the rectangle of each box.
local function place_rows(rows, left, room, y)
  for _, row in ipairs(rows) do
    local width = math.min(220, (room - 12 * (#row - 1)) / #row)
    local all = width * #row + 12 * (#row - 1)
    local x, most = left + (room - all) / 2, 0
    for _, box in ipairs(row) do
      box.x, box.y, box.width, box.height = x, y, width, BOX + LINE * #box.riders
      x, most = x + width + 12, math.max(most, box.height)
    end
    for i, box in ipairs(row) do box.is_last, box.row_end = i == #row, y + most end
    y = y + most + GAP
  end
  return y - GAP
end

-- Draws a horizontal arrow head at x, y. from = -1: it comes from the left.
local function side_head(picture, x, y, from)
  picture:path({ { x + 6 * from, y - 4 }, { x, y }, { x + 6 * from, y + 4 } }, "edge")
end

-- Draws lines to a box from its inputs. A line is straight from the row above, else it passes other boxes on the right.
local function draw_reads(picture, box, boxes, right, lanes)
  for _, from in ipairs(boxes) do
    if box.reads[from] then
      local x1, y1 = from.x + from.width / 2, from.y + from.height
      if box.rank == from.rank + 1 then
        local x2, middle = box.x + box.width / 2, box.y - GAP / 2 - 1
        picture:path({ { x1, y1 }, { x1, middle }, { x2, middle }, { x2, box.y } }, "edge")
        head(picture, x2, box.y)
      else
        local lane = 1
        while lanes[lane] and lanes[lane] > from.rank do lane = lane + 1 end
        lanes[lane] = box.rank
        local x, y = right + 8 + 7 * (lane - 1), box.y + box.height / 2
        local start = { { from.x + from.width, from.y + 10 }, { x, from.y + 10 } }
        if not from.is_last then -- below its neighbours
          local gap = from.row_end + 5
          start = { { x1 + 8, y1 }, { x1 + 8, gap }, { x, gap } }
        end
        start[#start + 1], start[#start + 2] = { x, y }, { box.x + box.width, y }
        picture:path(start, "edge")
        side_head(picture, box.x + box.width, y, 1)
      end
    end
  end
end

-- Draws lines from above a group: a bar over the boxes of the first row, and a line past the others on the left.
local function draw_entering(picture, boxes, top, middle)
  local low, high = middle, middle
  for _, box in ipairs(boxes) do
    if box.outside and box.rank == 1 then
      local x = box.x + box.width / 2
      low, high = math.min(low, x), math.max(high, x)
      picture:line(x, top, x, box.y, "edge")
      head(picture, x, box.y)
    elseif box.outside then
      low = math.min(low, 18)
      picture:path({ { 18, top }, { 18, box.y + 8 }, { box.x, box.y + 8 } }, "edge")
      side_head(picture, box.x, box.y + 8, -1)
    end
  end
  if low < high then picture:line(low, top, high, top, "edge") end
end

-- Draws the inputs or outputs of an entry, one below the other. what: "input" or "output". Returns the y below them.
local function chips(picture, y, graph, what, width)
  local x = width / 2
  for _, name in ipairs(graph.entry[what .. "s"]) do
    local tensor = graph.tensors[name]
    local shape = table.concat(tensor.shape, " × ")
    local text = ("%s [%s]"):format(tensor.member, shape)
    local w = math.min(width - 20, svg.text_width(text, 11) + 18)
    picture:box(x - w / 2, y, w, 22, "plain", ("%s %s: %s [%s]"):format(what, tensor.member, tensor.type, shape))
    picture:text(x, y + 15, text, { anchor = "middle", width = w - 8 })
    y = y + 28
  end
  return y - 6
end

function architecture.picture(entry, list, width)
  local picture = svg.picture(width, 0)
  picture.tab = "0"
  local columns = width > 500 and 5 or 3
  local room = width - 2 * SIDE
  local y = picture:legend(6, 14, { { class = "t1", text = "product" }, { class = "t2", text = "attention" },
    { class = "t3", text = "row operation" }, { class = "plain", text = "done on the same tile" } }) + 6
  y = chips(picture, y, entry.graph, "input", width)
  local near = {}
  for _, name in ipairs(entry.graph.entry.inputs) do near[entry.graph.tensors[name]] = true end
  for _, group in ipairs(architecture.groups(list)) do
    local rows, boxes = rows_of(group, columns, near)
    if columns == 3 and not fits_three(rows, room) then rows, boxes = rows_of(group, 2, near) end
    near = {}
    for _, each in ipairs(group.all) do near[each.op.result] = true end
    local top, enters = y + GAP, false
    for _, box in ipairs(boxes) do enters = enters or box.outside end
    local framed = group.first ~= nil
    if enters then picture:line(width / 2, y, width / 2, top + (framed and 0 or 2), "edge") end
    local inner = top + (framed and 28 or 0)
    local below = place_rows(rows, SIDE, room, inner + 16)
    if framed then
      picture:box(3, top, width - 6, below - top + 12, "frame")
      picture:text(12, top + 16, architecture.title(group), { class = "strong", width = width / 2 - 20 })
    end
    draw_entering(picture, boxes, inner + 2, width / 2)
    if framed and enters then picture:line(width / 2, top, width / 2, inner + 2, "edge") end
    local lanes = {}
    for _, box in ipairs(boxes) do
      draw_reads(picture, box, boxes, width - SIDE, lanes)
      draw_box(picture, box, box.x, box.y, box.width)
    end
    y = below + (framed and 12 or 0)
  end
  picture:line(width / 2, y, width / 2, y + GAP, "edge")
  head(picture, width / 2, y + GAP)
  y = chips(picture, y + GAP, entry.graph, "output", width)
  picture.height = y + 8
  return picture
end

architecture.columns = { { "tensor", words = true }, { "operation", words = true }, { "where", words = true },
  { "shape", words = true }, { "type", words = true }, { "bytes" }, { "Mflop" },
  { "done on the tile of", words = true } }

--- Returns the rows of the picture's table. Equal layers have the rows of the first.
function architecture.rows(list)
  local rows = {}
  for _, group in ipairs(architecture.groups(list)) do
    for _, each in ipairs(group.list) do
      rows[#rows + 1] = { each.name, op_words.of(each.op.op), architecture.title(group),
        table.concat(each.op.result.shape, " × "), each.op.result.type, numbers.whole(work.bytes(each.op.result)),
        numbers.short(each.op.flops / 1e6),
        each.fused and each.fused.result.name or "" }
    end
  end
  return rows
end

return architecture
