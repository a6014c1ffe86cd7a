-- sources.lua: finds the boxes of tensors that a weight is read from (attn2c_view in runtime/base/descriptor.h).
-- A box follows from two things: the part of the whole weight that the graph uses (some heads, some positions), and the
-- place where the naming scheme says that the whole weight is stored.
--
-- A source of a naming scheme:
--   names            the names that the tensor may have, tried in order
--   part, parts      the weight is the part-th of `parts` equal parts of the rows, or of parts of { these, sizes };
--                    the size "heads" or "kv_heads" is the width of all of these heads, or of a group's share of them
--   stacked          true: the tensor has the parts as its first axis
--   across           true: the parts are of the columns
--   groups           the number of groups of rows that each have these parts: a number, or "heads" or "kv_heads" for
--                    the number of them; "rows": the parts alternate row by row. An expert's rows are a group
--   unpair           the rotated rows of a head are stored as pairs 2 d, 2 d + 1; the model has halves
--   transpose        the tensor is stored [in][out]
--   {expert}         in a name: its number, so that each expert of the weight is a tensor; without it, a tensor has the
--                    experts as its first axis
--   flat             the experts of such a tensor follow each other in its first axis, which has no axis of their own
--   factor           all values are multiplied by this
--   plus_one         1 is added to each stored value, before the factor
--   row              the weight's rows are all this row of a tensor that may have any number of rows
--   repeated         true: the tensor has one number, which all of a vector's are
--   plus             another source, whose values are added
--   times            another source, a number for each row, which all values of the row are multiplied by
--   grid             { rows, columns }: the tensor has the positions of `tokens` tokens (1) and of a grid of patches;
--                    they become the positions of the image's grid (grid.lua)
--   smooth           true: with antialiasing, as torch has it
--   tap_gain         another source, a number for each tap of a convolution: a tap's values are divided by the root of
--                    the sum of their squares, and multiplied by its number (torch's weight_norm over the last axis)
--   join, pieces     the weight consists of several sources of one size, one after the other in "rows" or "columns"
--   count            of a piece: its rows or columns, if the pieces have different sizes; the others share the rest
local faults = require("common.faults")
local grid = require("checkpoints.grid")
local words = require("common.words")

local sources = {}

-- Maps a weight's rows (or columns) to its source's, by segments { at, count, from, step }: `count` rows from
-- `at` on are the source's rows from `from` on, `step` apart. This map is the identity.
local function whole(count) return { { at = 0, count = count, from = 0, step = 1 } } end

-- Returns the composition of two maps: from outer's rows to the rows of inner's source.
local function through(outer, inner)
  local list = {}
  for _, a in ipairs(outer) do
    for _, b in ipairs(inner) do
      -- The elements of a that lie within b, from the first to the last.
      local first = math.max(0, -((a.from - b.at) // a.step))
      local last = math.min(a.count - 1, (b.at + b.count - 1 - a.from) // a.step)
      if first <= last then
        list[#list + 1] = { at = a.at + first, count = last - first + 1, step = a.step * b.step,
          from = b.from + (a.from + first * a.step - b.at) * b.step }
      end
    end
  end
  return list
end

-- Returns the rows (axis 1) or columns (2) of the whole weight that the graph uses, and the whole number of them.
local function of_graph(tensor, axis, count)
  local source = tensor.source
  if source.rows and axis == 1 then return { { at = 0, count = count, from = source.first, step = 1 } }, source.rows end
  if not source.heads or source.axis ~= axis then return whole(count), count end
  local width, list = count // #source.heads, {}
  for i, head in ipairs(source.heads) do
    local last = list[#list]
    if last and last.from + last.count == head * width then
      last.count = last.count + width
    else
      list[#list + 1] = { at = (i - 1) * width, count = width, from = head * width, step = 1 }
    end
  end
  return list, width * source.all
end

local function size_of(part, spec, groups)
  return type(part) == "string" and assert(spec[part], part) * spec.head_dim // (groups or 1) or part
end

local function group_count(rule, rows, spec)
  if rule.groups == "rows" then
    return type(rule.parts) == "table" and rows // size_of(rule.parts[rule.part], spec) or rows
  end
  return type(rule.groups) == "string" and assert(spec[rule.groups], rule.groups) or rule.groups or 1
end

local function refuse(tensor, ...) faults.raise("usage", "names: %s: %s", tensor.name, faults.line(...)) end

-- Returns the place of the part's rows in the tensor, and the tensor's number of rows.
local function of_parts(tensor, rule, rows, spec)
  if not rule.part then return whole(rows), rows end
  local groups, parts = group_count(rule, rows, spec), rule.parts
  if rows % groups ~= 0 then refuse(tensor, "%d rows are not divisible by %d groups", rows, groups) end
  local size, before, all = rows // groups, 0, 0
  for i = 1, type(parts) == "table" and #parts or parts do
    local each = type(parts) == "table" and size_of(parts[i], spec, rule.groups ~= "rows" and groups) or size
    if i < rule.part then before = before + each end
    if i == rule.part and each ~= size then
      refuse(tensor, "part %d has %d rows, but the weight has %d%s", i, each, size, groups > 1 and " per group" or "")
    end
    all = all + each
  end
  if groups > 1 and size == 1 then return { { at = 0, count = rows, from = before, step = all } }, rows * all end
  local list = {}
  for g = 0, groups - 1 do list[#list + 1] = { at = g * size, count = size, from = g * all + before, step = 1 } end
  return list, groups * all
end

-- Returns the map from the halves of each head's rotated rows to stored pairs.
local function of_pairs(tensor, rule, rows, spec)
  if not rule.unpair then return whole(rows) end
  local dim, rotated, list = spec.head_dim, spec.rope_dim or spec.head_dim, {}
  if rows % dim ~= 0 then refuse(tensor, "unpair: %d rows are not a multiple of a head's %d", rows, dim) end
  for head = 0, rows - dim, dim do
    for half = 0, 1 do
      list[#list + 1] = { at = head + half * rotated // 2, count = rotated // 2, from = head + half, step = 2 }
    end
    if rotated < dim then
      list[#list + 1] = { at = head + rotated, count = dim - rotated, from = head + rotated, step = 1 }
    end
  end
  return list
end

-- Adds the boxes of a convolution's weight, [out][in][taps] in every file. The weight has the inputs tap by tap.
local function add_taps(result, tensor, rule, size, factor)
  local taps = tensor.source.taps
  local function box(more)
    local view = { stored = #result.stored, taps = true, row = 0, rows = size.rows, column = 0, columns = size.columns,
      first = 0, row_step = size.columns, column_step = taps, factor = 1 }
    for key, value in pairs(more) do view[key] = value end
    result.views[#result.views + 1] = view
  end
  result.stored[#result.stored + 1] = { names = rule.names,
    shape = tensor.source.shape or { size.rows, size.columns // taps, taps } }
  box { factor = factor }
  if not rule.tap_gain then return end
  box { times = true, unit = true }
  result.stored[#result.stored + 1] = { names = rule.tap_gain.names, shape = { taps } }
  box { times = true, row_step = 0 }
end

local add

local function add_experts(result, tensor, rule, size, spec, target)
  local count = tensor.source.experts
  local own = { rows = size.rows // count, columns = size.columns, vector = size.vector, of_expert = true }
  local function at(expert)
    return { row = target.row + expert * own.rows, column = target.column, added = target.added,
      factor = target.factor }
  end
  if rule.names[1]:find("{expert}", 1, true) then
    for expert = 0, count - 1 do
      local names = words.map(rule.names, function(name) return (name:gsub("{expert}", tostring(expert))) end)
      add(result, tensor, words.merged(rule, { names = names }), own, spec, at(expert))
    end
    return
  end
  local one = { stored = {}, views = {} }
  add(one, tensor, rule, own, spec, at(0))
  local shape = one.stored[1].shape
  result.stored[#result.stored + 1] = { names = rule.names,
    shape = rule.flat and { count * shape[1], table.unpack(shape, 2) } or { count, table.unpack(shape) } }
  local first = one.views[1]
  local is_whole = #one.views == 1 and first.rows * first.row_step == words.elements(shape)
  for expert = 0, is_whole and 0 or count - 1 do
    for _, view in ipairs(one.views) do
      result.views[#result.views + 1] = words.merged(view, { stored = #result.stored,
        row = view.row + expert * own.rows, first = view.first + expert * words.elements(shape),
        rows = is_whole and size.rows or view.rows })
    end
  end
end

-- Adds the boxes of a rule to a result. target: the boxes' place in the weight, { row, column, added, factor }.
function add(result, tensor, rule, size, spec, target)
  if tensor.source.experts and not size.of_expert then
    return add_experts(result, tensor, rule, size, spec, target)
  end
  if rule.pieces then
    local by_rows, count = rule.join == "rows", #rule.pieces
    local rest = by_rows and size.rows or size.columns
    for _, piece in ipairs(rule.pieces) do
      if piece.count then count, rest = count - 1, rest - piece.count end
    end
    if rest < count or (count > 0 and rest % count or rest) ~= 0 then
      refuse(tensor, "%d %s cannot be divided into %d equal pieces", rest, rule.join, count)
    end
    local at = 0
    for _, piece in ipairs(rule.pieces) do
      local part = piece.count or rest // count
      add(result, tensor, piece, { rows = by_rows and part or size.rows, columns = by_rows and size.columns or part,
        vector = size.vector },
        spec, { row = target.row + (by_rows and at or 0), column = target.column + (by_rows and 0 or at),
          added = target.added, factor = target.factor * (rule.factor or 1) })
      at = at + part
    end
  elseif rule.grid then
    local own, patches = grid.tokens(rule), grid.count(spec)
    local tokens = patches and size.rows - patches or -1
    if tokens < own then
      refuse(tensor, "grid: goes with the positions of an image with at least %d tokens of its own", own)
    end
    result.stored[#result.stored + 1] = { names = rule.names,
      shape = { rule.grid[1] * rule.grid[2] + own, size.columns } }
    for _, view in ipairs(grid.views(rule, spec, tokens, size.columns)
      or refuse(tensor, "grid: at most 65535 rows and columns of patches are supported")) do
      view.stored = #result.stored
      result.views[#result.views + 1] = view
    end
  elseif tensor.source.taps then
    add_taps(result, tensor, rule, size, target.factor * (rule.factor or 1))
  else
    local factor = target.factor * (rule.factor or 1)
    local rows, all_rows = of_graph(tensor, 1, size.rows)
    local columns, all_columns = of_graph(tensor, 2, size.columns)
    local inner, stored_rows = of_parts(tensor, rule.across and {} or rule, all_rows, spec)
    if rule.across then
      local parts, stored_columns = of_parts(tensor, rule, all_columns, spec)
      columns, all_columns = through(columns, parts), stored_columns
    end
    rows = through(through(rows, of_pairs(tensor, rule, all_rows, spec)), inner)
    local shape = size.vector and { stored_rows } or rule.transpose and { all_columns, stored_rows }
      or { stored_rows, all_columns }
    if rule.stacked then shape = { rule.parts, stored_rows // rule.parts, all_columns } end
    if rule.row then
      shape = { -1, all_columns }
      rows = { { at = 0, count = size.rows, from = rule.row, step = 0 } }
    end
    if rule.repeated then shape, rows = { 1 }, { { at = 0, count = size.rows, from = 0, step = 0 } } end
    local transposed = rule.transpose and not size.vector and not rule.row
    result.stored[#result.stored + 1] = { names = rule.names, shape = tensor.source.shape or shape,
      is_transposed = transposed }
    local row_step, column_step = transposed and 1 or all_columns, transposed and stored_rows or 1
    for _, r in ipairs(rows) do
      for _, col in ipairs(columns) do
        result.views[#result.views + 1] = { stored = #result.stored, added = target.added, row = target.row + r.at,
          rows = r.count, column = target.column + col.at, columns = col.count,
          first = r.from * row_step + col.from * column_step, row_step = r.step * row_step, column_step = column_step,
          factor = factor, plus_one = rule.plus_one }
      end
    end
  end
  if rule.times then
    result.stored[#result.stored + 1] = { names = rule.times.names, shape = { size.rows } }
    result.views[#result.views + 1] = { stored = #result.stored, times = true, row = target.row, rows = size.rows,
      column = target.column, columns = size.columns, first = 0, row_step = 1, column_step = 0, factor = 1 }
  end
  if rule.plus then
    add(result, tensor, rule.plus, size, spec, { row = target.row, column = target.column, added = true,
      factor = target.factor })
  end
end

--- Returns the boxes of a weight: { stored = { { names, shape } }, views = { { stored, added, row, ... } } }. A view's
--- `stored` counts from 1. tensor: the graph's; rule: a source of a naming scheme; spec: the model's.
function sources.of(tensor, rule, spec)
  local rows, columns = tensor.shape[1], 1
  for i = 2, #tensor.shape do columns = columns * tensor.shape[i] end
  local result = { stored = {}, views = {} }
  add(result, tensor, rule, { rows = rows, columns = columns, vector = #tensor.shape == 1 }, spec,
    { row = 0, column = 0, added = false, factor = tensor.source.factor or 1 })
  return result
end

--- Returns the parts of a tensor that a weight's views take: { row, rows, column, columns, first and step of the
--- tensor's outputs, and of its inputs, factor }; nil if a view is no plain box.
function sources.boxes(from, stored)
  local boxes, columns = {}, stored.shape[2] or 1
  for i, view in ipairs(from.views) do
    if view.added or view.plus_one or view.times or view.resized or view.taps or #stored.shape > 2 then return nil end
    local down, across = view.first // columns, view.first % columns
    local out = { first = down, step = view.row_step // columns }
    local inputs = { first = across, step = view.column_step }
    if stored.is_transposed then
      out, inputs = { first = across, step = view.row_step }, { first = down, step = view.column_step // columns }
    end
    boxes[i] = { view = view, out = out, inputs = inputs }
  end
  return boxes
end

--- Returns a source in a few words, for dumps.
function sources.text(rule)
  local first = rule
  while first.pieces do first = first.pieces[1] end
  local parts = { " from " .. first.names[1] }
  if first.part then
    parts[#parts + 1] = (" part %d of %d"):format(first.part, type(first.parts) == "table" and #first.parts
      or first.parts)
  end
  for _, key in ipairs { "transpose", "unpair", "plus_one" } do
    if first[key] then parts[#parts + 1] = " " .. key end
  end
  if first.tap_gain then parts[#parts + 1] = " with the lengths of taps " .. first.tap_gain.names[1] end
  if first.times then parts[#parts + 1] = " times " .. first.times.names[1] end
  if first.plus then parts[#parts + 1] = " plus " .. first.plus.names[1] end
  return table.concat(parts)
end

return sources
