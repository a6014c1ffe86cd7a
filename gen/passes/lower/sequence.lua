-- sequence.lua: lowers operations that read a whole sequence, or that belong to no sequence.
-- These are pools, rows that a state keeps, rows joined, heads split off, axes swapped, patches of an image, windows
-- of rows, convolutions of each column, the mean over heads, tables of positions.
local forms = require("data.storage")
local pools_of_kept = require("data.stages").pools_of_kept
local types = require("data.types")

local sequences = {}

-- Functions by pool: each returns the row operation and its run-time value, as name, argument and operand; and the
-- first row, if it is not 0.
local pools = {}

local function valid_rows(self, op, origin)
  if op.operands.lengths then return self:value(op.operands.lengths, 0, origin) end
  if origin.over then return self:open_value("keys", op.operands.x.shape[2]) end
  return self:integer(op.operands.x.shape[2])
end

function pools.mean(self, op, origin) return "pool_mean", "rows", valid_rows(self, op, origin) end
function pools.deviation(self, op, origin) return "pool_deviation", "rows", valid_rows(self, op, origin) end
function pools.patches(self, op)
  local tokens = op.attributes.tokens
  return "pool_mean", "rows", self:integer(op.operands.x.shape[2] - tokens), tokens
end
function pools.tokens(self, op) return "pool_mean", "rows", self:integer(op.attributes.tokens) end
function pools.max(self, op, origin) return "pool_max", "rows", valid_rows(self, op, origin) end
function pools.root(self, op, origin) return "pool_root", "rows", valid_rows(self, op, origin) end
function pools.weighted(self, op, origin) return "pool_weighted", "rows", valid_rows(self, op, origin) end
function pools.second(self) return "pool_row", "row", self:integer(1) end
function pools.first(self) return "pool_row", "row", self:integer(0) end
function pools.last(self, op, origin)
  if op.operands.lengths then return "pool_row", "row", self:value(op.operands.lengths, -1, origin) end
  if origin.over then return "pool_row", "row", self:open_value("keys", op.operands.x.shape[2], -1) end
  return "pool_row", "row", self:integer(op.operands.x.shape[2] - 1)
end

local ops = {}

-- Returns the end of the name of a pool's step: how ids choose its row.
local function by_ids(pool, op)
  local a = op.attributes
  return not op.operands.ids and pool or a.ending and "ending" or pool .. "_but"
end

-- Emits a pool of the rows that a mask keeps.
local function pool_kept(self, op, pool, y, origin)
  local x, ids, a = op.operands.x, op.operands.ids, op.attributes
  self:row("pool_kept_" .. by_ids(pool, op), { rows = x.shape[2], cols = x.shape[3], ldx = self:ld(x),
    keeps = a.keeps and 1 or 0, pad = a.pad, ending = a.ending },
    { y = y, x = self:at(x, 0, 0, origin), mask = self:at(op.operands.mask, a.first or 0, 0, origin),
      ids = ids and self:at(ids, 0, 0, origin) })
end

function ops.pool(self, op, origin)
  local x, ids = op.operands.x, op.operands.ids
  self:unit()
  local column = 0
  for pool in op.attributes["function"]:gmatch("%S+") do
    local y = self:at(op.result, 0, column, origin)
    if op.operands.mask and pools_of_kept[pool] then
      pool_kept(self, op, pool, y, origin)
    elseif ids then
      local a = op.attributes
      self:row("pool_" .. by_ids(pool, op), { cols = x.shape[3], ldx = self:ld(x), pad = a.pad, ending = a.ending },
        { y = y, x = self:at(x, 0, 0, origin), ids = self:at(ids, 0, 0, origin), rows = valid_rows(self, op, origin) })
    else
      local fn, name, value, first = pools[pool](self, op, origin)
      local cut = op.attributes.cut
      self:row(cut and fn .. "_cut" or fn, { cols = x.shape[3], ldx = self:ld(x), cut = cut },
        { y = y, x = self:at(x, first or 0, 0, origin), [name] = value })
    end
    column = column + x.shape[3]
  end
end

-- Copies rows of all heads, [rows][heads head_dim], to the same by head, [heads][rows][head_dim], or back: a step for
-- each head, from x to y. The side by rows has them from `first` on.
local function copy_heads(self, x, y, first, origin)
  local is_from = #x.shape == 4
  local _, heads, rows, width = table.unpack(is_from and x.shape or y.shape)
  for h = 0, heads - 1 do
    local function at(tensor)
      if #tensor.shape == 4 then return self:at(tensor, h * rows, 0, origin) end
      return self:at(tensor, first, h * width, origin)
    end
    self:row("copy", { rows = rows, cols = width, ldx = self:ld(x), ldy = self:ld(y) }, { y = at(y), x = at(x) })
  end
end

function ops.split_heads(self, op, origin)
  self:unit()
  copy_heads(self, op.operands.x, op.result, 0, origin)
end

local function copy_rows(self, op, x, count, first, origin)
  if #x.shape == 4 then return copy_heads(self, x, op.result, first, origin) end
  local ld = (x.kind == "weight" or x.kind == "constant") and x.shape[#x.shape] or self:ld(x)
  self:row("copy", { rows = count, cols = x.shape[#x.shape], ldx = ld, ldy = self:ld(op.result) },
    { y = self:at(op.result, first, 0, origin), x = self:at(x, 0, 0, origin) })
end

-- In a trace, copies a tensor that is read by head as rows.
local function trace_heads(self, op, origin)
  local y, width = op.result, self:ld(op.result)
  for column = 0, y.shape[3] - 1, width do
    self:trace_copy(y, self:at(y, 0, column, origin), width,
      { row = 0, rows = y.shape[2], column = column, cols = width, origin = origin })
  end
end

function ops.join(self, op, origin)
  self:unit()
  if self.storage[op.result.name].of then return trace_heads(self, op, origin) end
  local row = 0
  local function clear(count)
    if count == 0 then return end
    self:row("fill", { rows = count, cols = op.result.shape[3], ldy = self:ld(op.result), value = 0.0 },
      { y = self:at(op.result, row, 0, origin) })
    row = row + count
  end
  clear(op.attributes.zeros_before or 0)
  for _, x in ipairs { op.operands.a, op.operands.b } do
    local count = op.attributes.rows or x.shape[#x.shape - 1]
    copy_rows(self, op, x, count, row, origin)
    row = row + count
  end
  clear(op.attributes.zeros)
end

-- Exchanges two axes: row i of sequence j is at [i][j] of the caller's tensor, and at [j][i] of the other.
function ops.swap(self, op, origin)
  local x, y = op.operands.x, op.result
  local outer = x.unbatched and x or y
  local rows, batch, width = table.unpack(outer.shape)
  local function at(tensor)
    if tensor ~= outer then return self:at(tensor, 0, 0, origin), self:ld(tensor) end
    local operand = self:at(tensor, 0, 0, origin)
    local stride = types.bytes(width, tensor.type)
    operand.terms.b = origin.loop and stride or nil
    operand.terms.s = self.segment.repeats > 1 and stride or nil
    return operand, batch * width
  end
  local from, ldx = at(x)
  local to, ldy = at(y)
  self:unit()
  self:row("copy", { rows = rows, cols = width, ldx = ldx, ldy = ldy }, { y = to, x = from })
end

function ops.page_places(self, op, origin)
  local boxes, a = op.operands.boxes, op.attributes
  self:unit()
  self:row("page_places", { rows = boxes.shape[2], across = a.across, down = a.down },
    { y = self:at(op.result, 0, 0, origin), boxes = self:at(boxes, 0, 0, origin) })
end

function ops.patches(self, op, origin)
  local x = op.operands.x
  for _, rows in ipairs(self.region.row_blocks) do
    self:unit()
    self:row("patches", { channels = x.shape[2], height = x.shape[3], width = x.shape[4], patch = op.attributes.patch,
      first = rows.first, rows = rows.count, ldy = self:ld(op.result),
      cols = op.result.shape[3] },
      { y = self:at(op.result, rows.first, 0, origin), x = self:at(x, 0, 0, origin) })
  end
end

function ops.patches_of_columns(self, op, origin)
  local x, a = op.operands.x, op.attributes
  for _, rows in ipairs(self.region.row_blocks) do
    self:unit()
    self:row("patches_of_columns", { height = x.shape[3], width = x.shape[2], patch = a.patch, first = rows.first,
      row_stride = a.row_stride, column_stride = a.column_stride, rows = rows.count, ldy = self:ld(op.result),
      cols = op.result.shape[3] },
      { y = self:at(op.result, rows.first, 0, origin), x = self:at(x, 0, 0, origin) })
  end
end

-- Only a trace copies windows that are read in place.
function ops.windows(self, op, origin)
  local x, y = op.operands.x, op.result
  for _, rows in ipairs(self.region.row_blocks) do
    self:unit()
    local area = { row = rows.first, rows = rows.count, column = 0, cols = y.shape[3], origin = origin }
    local from, step = self:at(x, rows.first * op.attributes.stride, 0, origin), op.attributes.stride * self:ld(x)
    if self.storage[y.name].of then
      self:trace_copy(y, from, step, area)
    else
      self:row("copy", { rows = rows.count, cols = area.cols, ldx = step, ldy = self:ld(y) },
        { y = self:at(y, rows.first, 0, origin), x = from })
    end
  end
end

-- The rows that the products of two windows read.
function ops.pair_rows(self, op, origin)
  local x, y = op.operands.x, op.result
  for _, rows in ipairs(self.region.row_blocks) do
    self:unit()
    self:row("pair_rows", { rows = rows.count, cols = x.shape[3], ldx = self:ld(x), ldy = self:ld(y),
      there = math.min(4 * rows.count + 1, x.shape[2] - 4 * rows.first) },
      { y = self:at(y, rows.first, 0, origin), x = self:at(x, 4 * rows.first, 0, origin) })
  end
end

function ops.mean_heads(self, op, origin)
  local x = op.operands.weights
  local heads, queries, cols = x.shape[2], x.shape[3], x.shape[4]
  for _, rows in ipairs(self.region.row_blocks) do
    self:unit()
    self:row("mean_heads", { heads = heads, rows = rows.count, cols = cols,
      stride = queries * self:ld(x), ldx = self:ld(x), ldy = self:ld(op.result) },
      { y = self:at(op.result, rows.first, 0, origin), x = self:at(x, rows.first, 0, origin) })
  end
end

-- Adds rows to the state of a sequence.
function ops.keep(self, op, origin)
  local x, y = op.operands.x, op.result
  self:add_rows(x, self.storage[y.name])
  self:with_open({ rows = "keys" }, function()
    self:trace_copy(y, self:at(x, 0, 0, origin), self:ld(x),
      { row = 0, rows = x.shape[2], column = 0, cols = x.shape[3], origin = origin })
  end)
end

-- Columns of a sequence that one worker takes: whole vectors of every target.
local COLUMNS = 64

-- Calls body(column, columns) for parts of the columns of x, each a unit. Where lengths are open, rows belong to a
-- sequence. rows: the symbol that counts them, "keys" by default.
local function each_column(self, x, origin, body, rows)
  self:with_open(origin.over and { rows = rows or "keys" } or nil, function()
    for column = 0, x.shape[3] - 1, COLUMNS do
      self:unit()
      body(column, math.min(COLUMNS, x.shape[3] - column))
    end
  end)
end

-- Less the mean of a sequence's rows.
function ops.centre(self, op, origin)
  local x, y = op.operands.x, op.result
  each_column(self, x, origin, function(column, cols)
    self:row("centre", { rows = x.shape[2], cols = cols, ldx = self:ld(x), ldy = self:ld(y) },
      { y = self:at(y, 0, column, origin), x = self:at(x, 0, column, origin), valid = valid_rows(self, op, origin) })
  end)
end

-- The factors that normalise channels.
function ops.channel_factors(self, op, origin)
  local x, y, o = op.operands.x, op.result, op.operands
  each_column(self, x, origin, function(column, cols)
    self:row("channel_factors", { rows = x.shape[2], cols = cols, ldx = self:ld(x), ldy = self:ld(y),
      eps = op.attributes.eps }, { y = self:at(y, 0, column, origin), x = self:at(x, 0, column, origin),
      gain = self:at(o.gain, 0, column, origin), bias = self:at(o.bias, 0, column, origin) })
  end)
end

-- The rows around each row, side by side.
function ops.neighbours(self, op, origin)
  local x, y, kernel = op.operands.x, op.result, op.attributes.kernel
  each_column(self, x, origin, function(column, cols)
    if op.attributes.dilation then
      return self:row("dilated", { rows = x.shape[2], cols = cols, kernel = kernel, dilation = op.attributes.dilation,
        width = x.shape[3], ldx = self:ld(x), ldy = self:ld(y) }, { y = self:at(y, 0, column, origin),
        x = self:at(x, 0, column, origin), valid = valid_rows(self, op, origin) })
    end
    self:row("neighbours", { rows = x.shape[2], cols = cols, kernel = kernel, ldx = self:ld(x), ldy = self:ld(y) },
      { y = self:at(y, 0, column * kernel, origin), x = self:at(x, 0, column, origin),
        valid = valid_rows(self, op, origin) })
  end)
end

-- A convolution of each column, of rows that the sequence has and those that its state has before them.
function ops.convolve_columns(self, op, origin)
  local x, y, kernel, o = op.operands.x, op.result, op.attributes.kernel, op.operands
  local kept = self.region.kept
  if kept then self:add_rows(x, kept) end
  each_column(self, x, origin, function(column, cols)
    local from = self:at(x, 0, column, origin)
    if kept then
      from = self:packed_at(kept, 0, column, origin)
      from.terms.forgotten = nil -- the first row that the state has
    end
    self:row("convolve_columns", { rows = self.state.spec.call_rows or x.shape[2], cols = cols, kernel = kernel,
      width = x.shape[3], ldx = kept and forms.packed(kept).ld(kept) or self:ld(x), ldy = self:ld(y) },
      { y = self:at(y, 0, column, origin), x = from, weight = self:at(o.weight, 0, column, origin),
        bias = o.bias and self:at(o.bias, 0, column, origin),
        before = kept and self:open_value("before", kept.rows_per_sequence, 0, 0) or self:integer(0) })
  end, "fresh")
end

-- An LSTM, each direction of which is a unit.
function ops.recurrent(self, op, origin)
  local x, y, o, directions = op.operands.x, op.result, op.operands, op.attributes.directions
  local width = y.shape[3] // directions
  self:with_open(origin.over and { rows = "keys" } or nil, function()
    for d = 0, directions - 1 do
      self:unit()
      self:row("recurrent", { rows = x.shape[2], width = width, backward = d, ldx = self:ld(x), ldy = self:ld(y) },
        { y = self:at(y, 0, d * width, origin), x = self:at(x, 0, d * 4 * width, origin),
          weight = self:at(o.weight, d * width, 0, origin), marks = o.marks and self:at(o.marks, 0, 0, origin),
          valid = valid_rows(self, op, origin) })
    end
  end)
end

-- Scores of words for labels, of a whole sequence.
function ops.match_labels(self, op, origin)
  local x, y, o = op.operands.x, op.result, op.operands
  self:with_open(origin.over and { rows = "keys" } or nil, function()
    self:unit()
    local operands = { valid = valid_rows(self, op, origin) }
    for name, tensor in pairs { y = y, x = x, labels = o.labels, weight = o.weight, out = o.out,
      marks = o.marks } do operands[name] = self:at(tensor, 0, 0, origin) end
    self:row("match_labels", { rows = x.shape[2], cols = y.shape[3], width = x.shape[3] // 2,
      hidden = o.weight.shape[2], scores = o.out.shape[2], ldx = self:ld(x), ldl = self:ld(o.labels),
      ldy = self:ld(y) }, operands)
  end)
end

-- Positions of a picture's patches: a table of a square grid is resized to them.
function ops.grid_positions(self, op, origin)
  local y, table_ = op.result, op.operands.table
  each_column(self, y, origin, function(column, cols)
    self:row("grid_positions", { rows = y.shape[2], cols = cols, grid = math.tointeger(table_.shape[1] ^ 0.5),
      ldt = table_.shape[2], ldy = self:ld(y) }, { y = self:at(y, 0, column, origin),
      table = self:at(table_, 0, column, origin), shape = self:at(op.operands.shapes, 0, 0, origin) })
  end)
end

-- Rows of the other tokens than one, which are scaled for its missing rows.
function ops.drop_tokens(self, op, origin)
  local x, y, a = op.operands.x, op.result, op.attributes
  each_column(self, x, origin, function(column, cols)
    self:row("drop_tokens", { rows = x.shape[2], cols = cols, id = a.id, share = a.share, ldx = self:ld(x),
      ldy = self:ld(y) }, { y = self:at(y, 0, column, origin), x = self:at(x, 0, column, origin),
      ids = self:at(op.operands.ids, 0, 0, origin), valid = valid_rows(self, op, origin) })
  end)
end

function ops.column_scale(self, op, origin)
  local x = op.operands.x
  each_column(self, x, origin, function(column, cols)
    self:row("column_scale", { cols = cols, ldx = self:ld(x) }, { scale = self:at(op.result, 0, column, origin),
      x = self:at(x, 0, column, origin), valid = valid_rows(self, op, origin) })
  end)
end

function ops.quantise_columns(self, op, origin)
  local x, y = op.operands.x, op.result
  each_column(self, x, origin, function(column, cols)
    local place = self:at(y, 0, column, origin)
    self:row("quantise_columns", { rows = x.shape[2], cols = cols, ldx = self:ld(x), ldy = self:ld(y) },
      { y = place, x = self:at(x, 0, column, origin), scale = self:at(op.operands.scale, 0, column, origin),
        valid = valid_rows(self, op, origin) })
    self:trace_copy(y, place, self:ld(y),
      { row = 0, rows = x.shape[2], column = column, cols = cols, origin = origin })
  end)
end

--- Emits a table that all sequences share.
function ops.bucket_table(self, op, origin)
  local o = op.operands
  self:unit()
  self:row("bucket_table", { buckets = o.table.shape[1], rows = op.result.shape[1], cols = op.result.shape[2],
    ldy = self:ld(op.result) },
    { y = self:at(op.result, 0, 0, origin), table = self:at(o.table, 0, 0, origin),
      index = self:at(o.index, 0, 0, origin) })
end

--- Returns the comment above an op's steps.
function sequences.describe(op)
  local o = op.operands
  if op.op == "pool" then
    return ("%s = %s over the rows of %s"):format(op.result.name, op.attributes["function"], o.x.name)
  end
  local names = {}
  for _, name in ipairs { "a", "b", "x", "weights", "table" } do
    if o[name] then names[#names + 1] = o[name].name end
  end
  return ("%s = %s(%s)"):format(op.result.name, op.op, table.concat(names, ", "))
end

--- Emits the steps of an op, for each sequence of the micro-batch.
function sequences.lower(self, op)
  if op.result.unbatched and op.op ~= "swap" then return ops[op.op](self, op, { block_first = 0, column = 0 }) end
  local kept = self.region.kept
  self:each_sequence(function(origin) ops[op.op](self, op, origin) end, op.op == "keep", kept and kept.window)
end

return sequences
