-- disentangled.lua: sizes of the products with tables of projected distances, which the graph, the plan and lowering
-- share.
-- Queries are multiplied with the distances to all keys of a range, ROWS at a time; keys are multiplied with the
-- distances to a block of queries, KEYS at a time. An element is then on a diagonal of the result. So a product has as
-- many columns too many as it has rows less one: few rows at a time waste little, and so do large blocks of queries.
local types = require("data.types")
local words = require("common.words")

local disentangled = {}

--- Rows that a table has on both sides in addition to the distances in use: blocks read whole vectors, and the last
--- block of a sequence of any length is read as if it had all of its rows.
disentangled.MARGIN = 64

--- Query rows and keys that are multiplied at a time.
disentangled.ROWS, disentangled.KEYS = 16, 16

-- Most query rows of a block. An attention of any length multiplies all rows of a block at once, so it has fewer.
local QUERIES, OPEN_QUERIES = 128, 64

--- Returns the distances between a block of queries and some keys, as whole vectors.
function disentangled.columns(rows, keys) return words.round_up(rows + keys - 1, types.per_line("f32")) end

--- Returns the most query rows of a block, for a target's parameter `query_block`.
function disentangled.queries(query_block, is_open)
  return math.min(is_open and 2 * query_block or 4 * query_block, is_open and OPEN_QUERIES or QUERIES)
end

-- Returns `count` rows from row `first` on in pieces of at most `step`: { first, count }.
local function pieces(first, count, step)
  local list = {}
  for at = first, first + count - 1, step do
    list[#list + 1] = { first = at, count = math.min(step, first + count - at) }
  end
  return list
end

function disentangled.pieces(range) return pieces(range.first_key, range.keys, disentangled.KEYS) end

--- Returns the query rows of a region's block in pieces.
function disentangled.row_pieces(region, block)
  return pieces(block.first, block.count, region.open and block.count or disentangled.ROWS)
end

--- Returns the size of the tile of a region's products: its rows, and their columns.
function disentangled.tile(region)
  local rows = region.open and region.most_rows or disentangled.ROWS
  return math.max(rows, disentangled.KEYS), math.max(disentangled.columns(rows, region.tile_columns),
    disentangled.columns(region.most_rows, disentangled.KEYS))
end

--- Calls visit(m, n, open) for the product of a block of an attention with the table of an op; open: its open sizes in
--- an attention of any length.
function disentangled.each_product(op, region, block, visit)
  local range = block.ranges[1]
  for _, piece in ipairs(op.attributes.keys and {} or disentangled.row_pieces(region, block)) do
    visit(disentangled.columns(piece.count, range.keys), piece.count, "n m")
  end
  if not op.attributes.keys then return end
  if region.open then return visit(disentangled.columns(block.count, disentangled.KEYS), disentangled.KEYS, "n") end
  for _, piece in ipairs(disentangled.pieces(range)) do
    visit(disentangled.columns(block.count, piece.count), piece.count, "n")
  end
end

--- True if an attention has terms of projected distances.
function disentangled.is_in(chain)
  return words.any(chain, function(op) return op.op == "add_disentangled" end)
end

return disentangled
