-- disentangled.lua: sizes of the products with tables of projected distances, which the graph, the plan and lowering
-- share.
-- A block of queries is multiplied with the distances to all keys of a range at once; keys are multiplied with the
-- distances to a block of queries, KEYS at a time. An element is then on a diagonal of the result.
local types = require("data.types")
local words = require("common.words")

local disentangled = {}

--- Rows that a table has on both sides in addition to the distances in use: blocks read whole vectors, and the last
--- block of a sequence of any length is read as if it had all of its rows.
disentangled.MARGIN = 64

--- Most query rows of a block, and keys that are multiplied at a time.
disentangled.QUERIES, disentangled.KEYS = 64, 16

-- A range of more keys than this is multiplied twice as many at a time: a piece is two lines of code.
local LONG = 256

local function whole(columns) return words.round_up(columns, types.per_line("f32")) end

--- Returns the distances between a block of queries and some keys, as whole vectors.
function disentangled.columns(rows, keys) return whole(rows + keys - 1) end

--- Returns the keys of a range in pieces: { first, count }.
function disentangled.pieces(range)
  local list, step = {}, range.keys > LONG and 2 * disentangled.KEYS or disentangled.KEYS
  for first = range.first_key, range.first_key + range.keys - 1, step do
    list[#list + 1] = { first = first, count = math.min(step, range.first_key + range.keys - first) }
  end
  return list
end

--- Calls visit(m, n, open) for the product of a block of an attention with the table of an op; open: its open sizes in
--- an attention of any length.
function disentangled.each_product(op, region, block, visit)
  local range = block.ranges[1]
  if not op.attributes.keys then
    return visit(disentangled.columns(block.count, range.keys), block.count, "n m")
  end
  if region.open then return visit(disentangled.columns(block.count, disentangled.KEYS), disentangled.KEYS, "n") end
  for _, piece in ipairs(disentangled.pieces(range)) do
    visit(disentangled.columns(block.count, piece.count), piece.count, "n")
  end
end

--- True if an attention has terms of projected distances.
function disentangled.is_in(chain)
  for _, op in ipairs(chain) do if op.op == "add_disentangled" then return true end end
  return false
end

return disentangled
