-- disentangled.lua: lowers the terms of disentangled attention, query · K(distance) and key · Q(distance).
-- Each is a product of rows by columns of the head's table, one for each distance. The score of query r and key j is on
-- a diagonal of it: a row is read with a leading dimension that is smaller by one.
local operands = require("data.operands")
local shared = require("passes.common.disentangled")
local types = require("data.types")

local disentangled = {}

local float = types.bytes(1, "f32")

-- Returns the leading dimension of a head's table, and its place from row `row` on. terms: the symbols of its row.
local function table_at(self, at, op, row, terms)
  local table_, heads = op.operands.table, op.attributes.table_heads
  local rows = table_.shape[1] // heads
  local ld, operand = self:panel_at(table_, at.head // (op.attributes.heads // heads) * rows + row)
  operand.terms = terms
  return ld, operand
end

-- Returns the name of the tile of products and the distance of its rows.
local function tile_of(self, at)
  local region = at.region
  local name, ld = region.scores.result.name .. "@relative", region.positions_ld
  self:scratch(name, (shared.tile(region)), ld)
  return name, ld
end

-- Adds query · K(distance) for some rows of a block. Column c of the product is for the distance of the last of them
-- and the range's first key, less c.
local function of_some_queries(self, at, op, piece)
  local range, first, count = at.block.ranges[1], piece.first, piece.count
  local q, open = op.operands.x, at.region.open
  local tile, ld = tile_of(self, at)
  local farthest = first + (op.attributes.offset or 0) + count - 1 - range.first_key
  local lda, table_ = table_at(self, at, op, op.attributes.reach - farthest, open and { query = -float,
    from = open.left >= 0 and float or nil })
  self:product({ m = shared.columns(count, range.keys), n = count, k = at.head_dim, lda = lda, ldb = self:ld(q),
    ldc = ld, beta = 0 },
    { a = table_, b = self:at(q, first, at.head * at.head_dim, at.origin), c = self:in_arena(tile, 0, "f32") },
    { outputs = not open and count + range.keys - 1 or nil,
      sizes = open and { n = self.open.rows, m = "reached" } or nil })
  self:emit { form = "map", constants = { rows = count, cols = range.keys, ld = at.tile_ld },
    elementwise = { { kind = "add", argument = "r", ld = ld - 1 } },
    arguments = { y = operands.moved(at.tile, ((first - at.block.first) * at.tile_ld + range.column) * float),
      r = self:in_arena(tile, count - 1, "f32") } }
end

local function of_queries(self, at, op)
  for _, piece in ipairs(shared.row_pieces(at.region, at.block)) do of_some_queries(self, at, op, piece) end
end

-- Adds key · Q(distance) for some keys, from key number `first` on. Column c of the product is for the distance of the
-- block's first query and the last of the keys, plus c.
local function of_some_keys(self, at, op, first, count, places)
  local rows, k = at.block.count, op.operands.x
  local tile, ld = tile_of(self, at)
  local nearest = at.block.first + (op.attributes.offset or 0) - (first + count - 1)
  local lda, table_ = table_at(self, at, op, op.attributes.reach + nearest, places.table)
  local column = at.head // (op.attributes.heads // (k.shape[3] // at.head_dim)) * at.head_dim
  self:product({ m = shared.columns(rows, count), n = count, k = at.head_dim, lda = lda, ldb = self:ld(k), ldc = ld,
    beta = 0 }, { a = table_, b = self:at(k, first, column, places.keys), c = self:in_arena(tile, 0, "f32") },
    { outputs = not places.sizes and rows + count - 1 or nil, sizes = places.sizes })
  self:row("add_transposed", { rows = count, cols = rows, ldx = ld - 1, ldy = at.tile_ld },
    { y = places.y, x = self:in_arena(tile, count - 1, "f32") },
    places.sizes and { rows = places.sizes.n, cols = self.open.rows })
end

local function of_keys(self, at, op)
  local range, open = at.block.ranges[1], at.region.open
  if not open then
    for _, piece in ipairs(shared.pieces(range)) do
      of_some_keys(self, at, op, piece.first, piece.count, { keys = at.origin,
        y = operands.moved(at.tile, (range.column + piece.first - range.first_key) * float) })
    end
    return
  end
  self:loop("seen", { step = shared.KEYS, lanes = open.lanes, left = open.left, right = open.right,
    count = range.keys // shared.KEYS + 1 }, function()
    of_some_keys(self, at, op, 0, shared.KEYS, { table = { query = float, key = -float },
      keys = { block_first = 0, column = 0, over = { "first", "key" } }, sizes = { n = "taken" },
      y = operands.moved(at.tile, 0, { key = float, from = open.left >= 0 and -float or nil }) })
  end)
end

--- Adds the term of an op to a block of scores; a step of scores.lua.
function disentangled.add(self, at, op)
  if op.attributes.keys then of_keys(self, at, op) else of_queries(self, at, op) end
end

return disentangled
