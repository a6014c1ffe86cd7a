-- plan_attention: the blocks of one attention: which query rows are taken together, which
-- keys each block reads, and where in a block a static mask cuts. What a mask removes
-- whole is in no block, and so is never emitted.
local words = require("words")

local attention = {}

-- Fewer query rows than this would use a kernel's registers badly.
local LEAST_ROWS = 16

--- The keys that query i sees under a static mask: first, and last + 1. -1 bounds nothing.
function attention.band(attributes)
  local left, right = attributes.left, attributes.right
  if attributes.causal then right = 0 end
  return left, right
end

-- Keys [first, last) of a block that begin in one transposed panel: { panel, first, count }.
local function panel_parts(first, last, key_block)
  local parts = {}
  local key = first
  while key < last do
    local panel = key // key_block
    local stop = math.min(last, (panel + 1) * key_block)
    parts[#parts + 1] = { panel = panel, first = key, count = stop - key }
    key = stop
  end
  return parts
end

--- Fills region.blocks = { { first, count, first_key, keys, parts, cut } }, region.tile_columns, region.key_block.
--- cut: { lo, hi }, row r of the block sees its columns lo + r <= j < hi + r; nil: all of them.
function attention.plan(region, p)
  local queries, keys = region.scores.result.shape[3], region.scores.result.shape[4]
  local left, right = attention.band(region.scores.attributes)
  local narrow = left >= 0 and (right >= 0) and left + right + 1 < keys // 2
  local most = narrow and math.min(p.window_block, p.query_block) or p.query_block
  local columns = narrow and left + right + 1 + most or keys
  most = math.max(1, math.min(most, math.max(LEAST_ROWS, p.tile_bytes // (4 * columns))))
  region.blocks, region.tile_columns = {}, 0
  region.key_block = p.key_block
  local number = (queries + most - 1) // most
  for i = 0, number - 1 do
    local first = i * most
    local count = math.min(most, queries - first)
    local last_query = first + count - 1
    local first_key = left >= 0 and math.min(keys - 1, math.max(0, first - left)) // p.key_align * p.key_align or 0
    local last_key = right >= 0 and math.min(keys, last_query + right + 1) or keys
    last_key = math.min(keys, first_key + words.round_up(last_key - first_key, 16))
    local block = { first = first, count = count, first_key = first_key, keys = last_key - first_key,
      parts = panel_parts(first_key, last_key, p.key_block) }
    local lo = left >= 0 and first - left - first_key or -queries
    local hi = right >= 0 and first + right + 1 - first_key or block.keys + queries
    local all_after = lo + count - 1 <= 0 -- the last row sees from column 0
    local all_before = hi >= block.keys -- the first row sees to the end
    if not (all_after and all_before) then block.cut = { lo = lo, hi = hi } end
    region.blocks[#region.blocks + 1] = block
    region.tile_columns = math.max(region.tile_columns, block.keys)
  end
end

--- One line a block.
function attention.dump(region, lines)
  for _, block in ipairs(region.blocks) do
    lines[#lines + 1] = ("        queries [%d:%d] keys [%d:%d]%s"):format(block.first, block.first + block.count,
      block.first_key, block.first_key + block.keys,
      block.cut and (" row r keeps columns [%d + r:%d + r]"):format(block.cut.lo, block.cut.hi) or "")
  end
end

return attention
