-- sequence.lua: lowers operations that read a whole sequence, or that belong to no sequence.
-- These are pools, rows that a state keeps, rows joined, heads split off, axes swapped, patches of an image, windows
-- of rows, convolutions of each column, the mean over heads, tables of positions.
local forms = require("data.storage")
local pools_of_kept = require("data.stages").pools_of_kept
local types = require("data.types")
local words = require("common.words")

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
  self:unit()
  self:row_of("page_places", op, { row = 0, rows = op.operands.boxes.shape[2], column = 0, origin = origin })
end

-- Calls body(area of the result) for parts of the rows, each a unit.
local function each_rows(self, op, origin, body)
  for _, rows in ipairs(self.region.row_blocks) do
    self:unit()
    body { row = rows.first, rows = rows.count, column = 0, cols = op.result.shape[3], origin = origin }
  end
end

function ops.patches(self, op, origin)
  local x, is_of_columns = op.operands.x, op.op == "patches_of_columns"
  each_rows(self, op, origin, function(area)
    self:row_of(op.op, op, area, { first = area.row, x = self:at(x, 0, 0, origin), channels = x.shape[2],
      height = x.shape[3], width = x.shape[is_of_columns and 2 or 4] })
  end)
end

ops.patches_of_columns = ops.patches

-- Only a trace copies windows that are read in place.
function ops.windows(self, op, origin)
  local x, y = op.operands.x, op.result
  each_rows(self, op, origin, function(area)
    local from, step = self:at(x, area.row * op.attributes.stride, 0, origin), op.attributes.stride * self:ld(x)
    if self.storage[y.name].of then return self:trace_copy(y, from, step, area) end
    self:row_of("copy", op, area, { x = from, ldx = step })
  end)
end

-- The rows that the products of two windows read.
function ops.pair_rows(self, op, origin)
  local x = op.operands.x
  each_rows(self, op, origin, function(area)
    area.cols = x.shape[3]
    self:row_of("pair_rows", op, area, { x = self:at(x, 4 * area.row, 0, origin),
      there = math.min(4 * area.rows + 1, x.shape[2] - 4 * area.row) })
  end)
end

function ops.mean_heads(self, op, origin)
  local x = op.operands.weights
  each_rows(self, op, origin, function(area)
    self:row_of("mean_heads", op, area, { heads = x.shape[2], stride = x.shape[3] * self:ld(x), ldx = self:ld(x),
      x = self:at(x, area.row, 0, origin) })
  end)
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

-- Operations whose step is one row operation on some columns: a function of the operation, the first column and the
-- origin that returns the constants and operands that do not follow (declared.lua), and another name of the step.
local by_columns = {}

-- Less the mean of a sequence's rows; the factors that normalise channels; rows of the other tokens than one, which are
-- scaled for its missing rows; columns as integers.
for _, name in ipairs { "centre", "channel_factors", "drop_tokens", "quantise_columns" } do
  by_columns[name] = function() end
end

-- The rows around each row, side by side.
function by_columns.neighbours(self, op, column, origin)
  if op.attributes.dilation then return { width = op.operands.x.shape[3] }, "dilated" end
  return { y = self:at(op.result, 0, column * op.attributes.kernel, origin) }
end

-- Positions of a picture's patches: a table of a square grid is resized to them.
function by_columns.grid_positions(self, op, column, origin)
  local table_ = op.operands.table
  return { grid = math.tointeger(table_.shape[1] ^ 0.5), ldt = table_.shape[2],
    table = self:at(table_, 0, column, origin), shape = self:at(op.operands.shapes, 0, 0, origin) }
end

function by_columns.column_scale(self, op, column, origin)
  return { scale = self:at(op.result, 0, column, origin) }
end

for name, of in pairs(by_columns) do
  ops[name] = function(self, op, origin)
    local x, y = op.operands.x, op.result
    each_column(self, x or y, origin, function(column, cols)
      local more, fn = of(self, op, column, origin)
      local area = { row = 0, rows = (x or y).shape[2], column = column, cols = cols, origin = origin }
      self:row_of(fn or name, op, area, words.merged(more, { valid = x and valid_rows(self, op, origin) }))
      if y.type == "s8" then self:trace_copy(y, self:at(y, 0, column, origin), self:ld(y), area) end
    end)
  end
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
  local x, o = op.operands.x, op.operands
  self:with_open(origin.over and { rows = "keys" } or nil, function()
    self:unit()
    self:row_of("match_labels", op, { row = 0, rows = x.shape[2], column = 0, cols = op.result.shape[3],
      origin = origin }, { width = x.shape[3] // 2, hidden = o.weight.shape[2], scores = o.out.shape[2],
      ldl = self:ld(o.labels), valid = valid_rows(self, op, origin) })
  end)
end

--- Emits a table that all sequences share.
function ops.bucket_table(self, op, origin)
  local rows, cols = table.unpack(op.result.shape)
  self:unit()
  self:row_of("bucket_table", op, { row = 0, rows = rows, column = 0, cols = cols, origin = origin },
    { buckets = op.operands.table.shape[1] })
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
