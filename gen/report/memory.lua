-- memory.lua: draws the arena as a map, with the moment at which most bytes are live, and the weights by layer.
-- Offsets go down and steps across; each tensor is a rectangle.
local bars = require("report.bars")
local numbers = require("report.numbers")
local packed = require("passes.common.packed")
local programs = require("passes.common.programs")
local svg = require("report.svg")
local types = require("data.types")
local words = require("common.words")

local memory = {}

memory.kinds = { "states", "queries, keys, values", "scores", "feed-forward", "output" }

-- Returns the kind of a buffer, by its tensor's name.
local function kind_of(name)
  if name:match("scores") or name:match("weights") or name:match("distances") or name:match("softmax") then return 3 end
  if name:match("attn%.[qkv]%f[%W]") or name:match("attn%.context") or name:match("rotated") then return 2 end
  if name:match("%.ff%.") then return 4 end
  if name:match("^output") then return 5 end
  return 1
end

--- Returns the map of an entry's shipped program: { items = { name, offset, bytes, first, last, kind, own }, bytes,
--- steps, peak = { step, bytes, names }, live_bytes, threads }. The map has only the first of the workers' own parts.
function memory.map(entry)
  local program = entry.programs[1]
  local first, last, count = programs.steps_of(program)
  local map = { items = {}, bytes = program.arena_bytes, steps = count, threads = program.threads,
    live_bytes = program.live_bytes }
  for _, item in ipairs(program.items) do
    for _, span in ipairs(item.spans) do
      local name = span.names[1]
      map.items[#map.items + 1] = { name = table.concat(span.names, ", "), bytes = item.bytes,
        offset = program.offsets[name] + (item.own and program.common_bytes or 0),
        first = first[span.first] or 1, last = last[span.last] or count, kind = kind_of(name), own = item.own }
    end
  end
  table.sort(map.items, function(a, b)
    if a.offset ~= b.offset then return a.offset < b.offset end
    if a.first ~= b.first then return a.first < b.first end
    return a.name < b.name
  end)
  local change = {}
  for _, item in ipairs(map.items) do
    change[item.first] = (change[item.first] or 0) + item.bytes
    change[item.last + 1] = (change[item.last + 1] or 0) - item.bytes
  end
  local now, peak = 0, { bytes = -1, step = 1 }
  for step = 1, count do
    now = now + (change[step] or 0)
    if now > peak.bytes then peak = { bytes = now, step = step } end
  end
  peak.list = {}
  for _, item in ipairs(map.items) do
    if item.first <= peak.step and peak.step <= item.last then
      item.at_peak = true
      peak.list[#peak.list + 1] = item
    end
  end
  map.peak = peak
  return map
end

local MOST_RECTS, LONG = 600, 300 -- rectangles of a picture; steps of a map in which some rectangles are too narrow

-- Returns the items that a picture shows of steps first to last. If they are too many, it shows the largest ones.
local function shown_of(map, first, last)
  local list = words.filter(map.items, function(item) return item.first <= last and item.last >= first end)
  if #list > MOST_RECTS then
    local function size(item) return item.bytes * (item.last - item.first + 1) end
    table.sort(list, function(a, b) return size(a) > size(b) end)
    list = table.move(list, 1, MOST_RECTS, 1, {})
  end
  return list
end

-- True if some of the larger tensors of the peak are too narrow in the whole map to be readable.
local function has_narrow(map)
  return words.any(map.peak.list, function(item)
    return item.bytes > 0.05 * map.peak.bytes and item.last - item.first + 1 < 0.1 * map.steps
  end)
end

--- Returns the first and last step of a separate picture around the peak, or nil if the map shows the peak well.
function memory.around_peak(map)
  local first, last = map.peak.step, map.peak.step
  for _, item in ipairs(map.peak.list) do first, last = math.min(first, item.first), math.max(last, item.last) end
  -- Tensors that live through most of a call do not limit the section.
  local room = math.max(8, map.steps // 12)
  first, last = math.max(first, map.peak.step - room), math.min(last, map.peak.step + room)
  if map.steps < LONG or 3 * (last - first + 1) > map.steps or not has_narrow(map) then return nil end
  return first, last
end

--- Draws a map for one width, with all steps or those from first to last.
function memory.picture(map, width, first, last)
  first, last = first or 1, last or map.steps
  local left, right = 62, width - 14
  local picture = svg.picture(width, 0)
  local items = words.map(memory.kinds, function(text, i) return { class = "t" .. i, text = text } end)
  local top = picture:legend(6, 14, items) + 42
  local height = 300
  local x = svg.linear(first - 1, last, left, right, 5)
  local y = svg.linear(0, math.max(1, map.bytes), top, top + height, 6)
  local list = shown_of(map, first, last)
  local function ends(item) return x:at(math.max(first, item.first) - 1), x:at(math.min(last, item.last)) end
  for _, item in ipairs(list) do
    local from, upto = ends(item)
    picture:rect(from, y:at(item.offset), math.max(0.8, upto - from), math.max(0.8, y:at(item.offset + item.bytes)
      - y:at(item.offset)), "t" .. item.kind .. (item.at_peak and " peak" or ""),
      ("%s: %s at offset %s, steps %s to %s%s"):format(item.name, numbers.bytes(item.bytes),
        numbers.whole(item.offset), numbers.whole(item.first), numbers.whole(item.last),
        item.at_peak and ", part of the peak" or ""))
  end
  picture:axis_x(x, top + height, "step", numbers.tick)
  picture:axis_y(y, left, "offset in the arena", numbers.bytes)
  local at = x:at(map.peak.step - 0.5)
  picture:line(at, top - 20, at, top + height, "mark")
  local text = ("peak %s at step %s"):format(numbers.bytes(map.peak.bytes), numbers.whole(map.peak.step))
  local w = svg.text_width(text, 11) / 2
  picture:text(math.max(left + w, math.min(right - w, at)), top - 24, text, { anchor = "middle", class = "strong" })
  for _, item in ipairs(list) do
    local from, upto = ends(item)
    if y:at(item.offset + item.bytes) - y:at(item.offset) >= 14 and upto - from >= 60 then
      picture:text(from + 5, y:at(item.offset) + 12, item.name, { size = 10, width = upto - from - 10,
        optional = true })
    end
  end
  picture.height = top + height + 42
  return picture
end

memory.columns = { { "tensor", words = true }, { "kind", words = true }, { "offset" }, { "bytes" }, { "first step" },
  { "last step" }, { "at the peak" } }

local MOST_ROWS = 250 -- rows of a table

--- Returns the rows of a table of items (the map's, or its peak's), and the number of rows that were left out.
function memory.rows(items)
  local rows = {}
  for i, item in ipairs(items) do
    if i > MOST_ROWS then break end
    rows[i] = { item.name, memory.kinds[item.kind], numbers.whole(item.offset), numbers.whole(item.bytes),
      tostring(item.first), tostring(item.last), item.at_peak and "yes" or "" }
  end
  return rows, #items - #rows
end

-- The kinds of weights. Tables are the tensors of which rows are looked up.
local weight_kinds = {}
for i, name in ipairs { "attention", "feed-forward", "tables", "norms and biases", "input and output" } do
  weight_kinds[i] = { name = name, colour = i }
end

local function weight_kind(name, tensor, tables)
  local function kind()
    if #tensor.shape < 2 then return 4 end
    if tables[tensor] or name:find("position", 1, true) then return 3 end
    if name:find("attn", 1, true) then return 1 end
    return name:find(".ff.", 1, true) and 2 or 5
  end
  return weight_kinds[kind()].name
end

--- Returns packed bytes and parameters of an entry's weights by layer, in order: { { name, bytes, parameters,
--- plain_bytes, constant_bytes = of parameters and constants without padding, in their number type, kinds } }. A table
--- at the place of a product's weight is counted there.
function memory.weights(entry)
  local rows, at, tables = {}, {}, {}
  for _, op in ipairs(entry.graph.entry.ops) do if op.operands.table then tables[op.operands.table] = true end end
  local own = words.filter(entry.graph.weights, function(name) return not entry.weights.home[name] end)
  for _, name in ipairs(own) do
    local tensor = entry.graph.tensors[name]
    local stack, layer = name:match("^(.-)l(%d+)%.")
    local key = layer and stack .. "layer " .. layer or name:match("^output") and "output" or "input"
    local row = at[key]
    if not row then
      row = { name = key, bytes = 0, parameters = 0, plain_bytes = 0, constant_bytes = 0, kinds = {} }
      at[key], rows[#rows + 1] = row, row
    end
    local bytes = types.line_bytes(packed.bytes(tensor, entry.weights.layouts[name]))
    local count = words.elements(tensor.shape)
    local kind = weight_kind(name, tensor, tables)
    local plain = types.number_bytes(count, tensor.type)
    if tensor.kind == "weight" then row.plain_bytes = row.plain_bytes + plain
    else row.constant_bytes = row.constant_bytes + plain end
    row.bytes, row.parameters = row.bytes + bytes, row.parameters + (tensor.kind == "weight" and count or 0)
    row.kinds[kind] = (row.kinds[kind] or 0) + bytes
  end
  return rows
end

function memory.weight_bars(rows, width)
  local list, most = {}, 1
  for i, row in ipairs(rows) do
    list[i] = { name = row.name, parts = row.kinds }
    most = math.max(most, row.bytes)
  end
  return bars.picture(list, { parts = weight_kinds, left = 84, unit = numbers.bytes_unit(most), text = numbers.bytes },
    width)
end

return memory
