-- lower_attention: one attention as steps, a head and a block of queries at a time: scores,
-- masks where the block has an edge, softmax in place, context. libxsmm, column-major, calls
-- the transposed keys and the values A, the queries and the attention weights B, scores and
-- context C.
local words = require("words")

local attention = {}

-- The context's batch-reduce over blocks of keys: { size, count } and a tail.
local function key_blocks(keys, key_block)
  if keys <= 2 * key_block then return { size = keys, count = 1, tail = 0 } end
  return { size = key_block, count = keys // key_block, tail = keys % key_block }
end

-- The masks of a block, element by element: only where a static mask cuts it or lengths are given.
local function mask(self, region, place, block, tile, ld)
  if block.cut then
    self:row("mask_band", { rows = block.count, cols = block.keys, ld = ld, lo = block.cut.lo, hi = block.cut.hi },
      { s = tile })
  end
  local lengths = region.scores.operands.lengths
  if lengths then
    self:row("mask_length", { rows = block.count, cols = block.keys, ld = ld },
      { s = tile, valid = self:value(lengths, -block.first_key, place) })
  end
end

local function context(self, region, place, block, h, head_dim, tile, tile_ld)
  local v, result = region.context.operands.v, region.context.result
  local blocks = key_blocks(block.keys, region.key_block)
  local c = self:at(result, block.first, h * head_dim, place)
  local function step(size, count, first, beta)
    local a = self:at(v, block.first_key + first, h * head_dim, place)
    local b = { buffer = tile.buffer, class = "arena", offset = tile.offset + first }
    self:product({ m = head_dim, n = block.count, k = size, lda = self:ld(v), ldb = tile_ld, ldc = self:ld(result),
      beta = beta }, count, size * self:ld(v), size, a, b, c)
  end
  step(blocks.size, blocks.count, 0, 0)
  if blocks.tail > 0 then step(blocks.tail, 1, block.keys - blocks.tail, 1) end
  local lengths = region.scores.operands.lengths
  if block.cut or lengths then
    self:row("context_repair",
      { rows = block.count, cols = block.keys, head_dim = head_dim, ldc = self:ld(result), ldp = tile_ld,
        ldv = self:ld(v), lo = block.cut and block.cut.lo or -block.count,
        hi = block.cut and block.cut.hi or block.keys },
      { c = c, p = tile, v = self:at(v, block.first_key, h * head_dim, place),
        valid = lengths and self:value(lengths, -block.first_key, place) or { value = block.keys } })
  end
end

-- A product's m for a part of a block's keys: the last part is padded where its row of the tile and its panel of keys
-- have room behind it, which they may lack where key_align is below 16.
local function padded(self, part, last, column, tile_ld, key_block)
  local m = words.round_up(part.count, self.pad)
  local fits = last and column + m <= tile_ld and part.first % key_block + m <= key_block
  return fits and m or part.count
end

--- A method of the lowering: the steps of an attention region.
function attention.lower(self, region)
  local scores, softmax = region.scores, region.softmax
  local q = scores.operands.q
  local heads = scores.attributes.heads
  local head_dim = q.shape[3] // heads
  local scores_tile = scores.result.name .. "@tile"
  local tile_ld = self.leading_dimension(region.tile_columns)
  local most_rows = 0
  for _, block in ipairs(region.blocks) do most_rows = math.max(most_rows, block.count) end
  self:scratch(scores_tile, most_rows * tile_ld)
  local queries = scores.result.shape[3]
  self.op_index = self.index_of[scores]
  self:note(("%s = softmax(%s · %sᵀ) · %s   %d heads of %d x %d x %d"):format(region.context.result.name, q.name,
    scores.operands.k.name, region.context.operands.v.name, heads, queries, scores.result.shape[4], head_dim))
  self:each_sequence(function(place)
    for h = 0, heads - 1 do
      self.op_index = self.index_of[scores]
      self:note(("head %d"):format(h))
      for _, block in ipairs(region.blocks) do
        self:unit()
        local tile = { buffer = scores_tile, class = "arena", offset = 0 }
        self.op_index = self.index_of[scores]
        for i, part in ipairs(block.parts) do
          local m = padded(self, part, i == #block.parts, part.first - block.first_key, tile_ld, region.key_block)
          self:product({ m = m, n = block.count, k = head_dim, lda = region.key_block, ldb = self:ld(q),
            ldc = tile_ld, beta = 0 }, 1, 0, 0,
            self:transposed_at(scores.operands.k, 0, part.first, h * head_dim, place),
            self:at(q, block.first, h * head_dim, place),
            { buffer = scores_tile, class = "arena", offset = part.first - block.first_key })
        end
        mask(self, region, place, block, tile, tile_ld)
        self:tap(scores.result, tile, tile_ld, h * queries + block.first, block.first_key, block.count, block.keys,
          place)
        self.op_index = self.index_of[softmax]
        self:row("softmax", { rows = block.count, cols = block.keys, ld = tile_ld, scale = softmax.attributes.scale },
          { s = tile })
        self:tap(softmax.result, tile, tile_ld, h * queries + block.first, block.first_key, block.count, block.keys,
          place)
        self.op_index = self.index_of[region.context]
        context(self, region, place, block, h, head_dim, tile, tile_ld)
      end
    end
  end)
end

return attention
