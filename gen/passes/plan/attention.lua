-- attention.lua: divides an attention into query blocks, with the key ranges that each reads and their cuts.
-- A cut is where a static mask crosses a range. Keys that a mask removes from all rows of a block are in no range, so
-- nothing is emitted for them.
local disentangled = require("passes.common.disentangled")
local divide = require("passes.common.divide")
local grouping = require("passes.common.grouping")
local ops = require("data.ops")
local types = require("data.types")
local words = require("common.words")

local attention = {}

-- Least query rows of a block; fewer would use a kernel's registers badly.
local LEAST_ROWS = 16

-- Open columns are a multiple of these, whole vectors of every target.
local LANES = 16

-- Returns keys [first, last) as key blocks, each within one transposed panel: { panel, first, count }.
local function key_blocks(first, last, key_block)
  local list = {}
  local key = first
  while key < last do
    local panel = key // key_block
    local stop = math.min(last, (panel + 1) * key_block)
    list[#list + 1] = { panel = panel, first = key, count = stop - key }
    key = stop
  end
  return list
end

local function range_of(first_key, keys, column, p)
  return { first_key = first_key, keys = keys, column = column,
    key_blocks = key_blocks(first_key, first_key + keys, p.key_block) }
end

-- Sets the outputs of the product that scores each key block. The last block's are padded if its row of the tile and
-- its panel of keys have capacity after it, which they may lack if key_align is below 16.
local function pad_scores(block, tile_ld, p)
  for s, range in ipairs(block.ranges) do
    for i, key_block in ipairs(range.key_blocks) do
      local column = range.column + key_block.first - range.first_key
      local m = words.round_up(key_block.count, p.pad)
      local last = s == #block.ranges and i == #range.key_blocks
      local fits = last and column + m <= tile_ld and key_block.first % p.key_block + m <= p.key_block
      key_block.outputs = fits and m or key_block.count
    end
  end
end

-- Returns the keys that a static mask leaves to the rows [first, first + count), among the queries' own.
local function band_range(scores, p, first, count, own)
  local a = scores.attributes
  local left, right = grouping.band(a)
  local queries, prefix = scores.result.shape[3], math.min(a.prefix or 0, own)
  local position = first + (a.offset or 0)
  local first_key = left >= 0 and math.min(own - 1, math.max(0, position - left)) // p.key_align * p.key_align or 0
  local last_key = right >= 0 and math.min(own, math.max(position + count + right, prefix)) or own
  last_key = math.min(own, first_key + types.whole_lines(last_key - first_key, "f32"))
  local range = range_of(first_key, last_key - first_key, 0, p)
  local lo = left >= 0 and position - left - first_key or -queries
  local hi = right >= 0 and position + right + 1 - first_key or range.keys + queries
  local all_after = lo + count - 1 <= 0 -- the last row sees from column 0
  local all_before = hi >= range.keys or prefix >= last_key -- the first row sees to the end
  if not (all_after and all_before) then range.cut = { lo = lo, hi = hi, keep = prefix > 0 and prefix or nil } end
  return range
end

-- Returns the part of a range from key `first` to `last`, as a range of its own.
local function part_of(range, rows, first, last, p)
  local skipped = first - range.first_key
  local part = range_of(first, last - first, 0, p)
  local cut = range.cut
  if cut then
    local keep = cut.keep and cut.keep > skipped and cut.keep - skipped or nil
    local lo, hi = cut.lo - skipped, cut.hi - skipped
    if not (lo + rows - 1 <= 0 and (hi >= part.keys or (keep or 0) >= part.keys)) then
      part.cut = { lo = lo, hi = hi, keep = keep }
    end
  end
  return part
end

-- Returns the chunks that a block's keys come in if its rows of scores are too long to be kept: blocks with the same
-- rows.
local function chunks_of(block, p)
  local range, list = block.ranges[1], {}
  local first, stop = range.first_key, range.first_key + range.keys
  while first < stop do
    local last = math.min(stop, (first // p.softmax_block + 1) * p.softmax_block)
    list[#list + 1] = { first = block.first, count = block.count, keys = last - first,
      ranges = { part_of(range, block.count, first, last, p) } }
    first = last
  end
  return list
end

--- Returns the tile parameters of an attention. Terms of projected distances take larger blocks of queries, as each
--- piece of keys is multiplied with the distances to all rows of a block.
function attention.parameters(region, p, is_open)
  if not disentangled.is_in(region.chain) then return p end
  return setmetatable({ query_block = disentangled.queries(p.query_block, is_open) }, { __index = p })
end

--- Sets the distance of rows of products with projected distances.
function attention.set_positions_ld(region, p)
  if not disentangled.is_in(region.chain) then return end
  local _, columns = disentangled.tile(region)
  region.positions_ld = divide.leading_dimension(columns, p, "f32")
end

--- True if the weights of an attention can be made a chunk at a time: a softmax that nothing follows, and scores and
--- weights that only the context reads. uses: how often each tensor is read.
function attention.may_come_in_chunks(region, uses)
  local weights, a = region.weights, region.scores.attributes
  if not ops.class(weights).in_chunks or weights.attributes.fully_masked_nan or (a.extra or 0) > 0 then return false end
  if region.context.attributes.nonzero then return false end
  for i = 1, #region.ops - 1 do
    local result = region.ops[i].result
    if result.kind ~= "scratch" or uses[result.name] ~= 1 then return false end
  end
  return true
end

--- Returns the blocks of an attention with these scores: { blocks = { { first, count, keys, ranges } }, tile_columns,
--- most_rows, key_block, tile_ld and distances_ld: the distance of rows of scores, and of products with a table of
--- distances }.
--- in_chunks: whether keys may come a chunk at a time (softmax_block) if not all rows of query_block fit tile_bytes;
---   a block, then of piece_rows, has `chunks`, blocks of the same rows and some of the keys
--- A (key) range is the keys [first_key, first_key + keys), whose scores begin at column `column` of the tile. Keys
--- that all queries see (bias_kv, zero_attn) are a range of their own.
--- key_blocks: the range divided by transposed panels, with the outputs of the product that scores each
--- cut: { lo, hi, keep }: row r of the block sees columns lo + r <= j < hi + r of the range, and those before `keep`;
---   nil: all
function attention.blocks(scores, p, in_chunks)
  local queries, keys = scores.result.shape[3], scores.result.shape[4]
  local group = types.group(scores.operands.q.type)
  if group > 1 then -- keys come in groups
    p = setmetatable({ key_align = words.round_up(p.key_align, group) }, { __index = p })
  end
  local extra = scores.attributes.extra or 0
  local left, right = grouping.band(scores.attributes)
  local own = keys - extra
  local narrow = left >= 0 and right >= 0 and left + right + 1 < own // 2
  local most = narrow and math.min(p.window_block, p.query_block) or p.query_block
  local columns = narrow and left + right + 1 + most + extra or keys
  in_chunks = in_chunks and columns > p.softmax_block and types.bytes(columns * most, "f32") > p.tile_bytes
  if in_chunks then columns, most = p.softmax_block, p.piece_rows end
  most = math.max(1, math.min(most, math.max(LEAST_ROWS, p.tile_bytes // types.bytes(columns, "f32"))))
  local result = { blocks = {}, tile_columns = 0, most_rows = 0, key_block = p.key_block }
  for first = 0, queries - 1, most do
    local count = math.min(most, queries - first)
    local block = { first = first, count = count, ranges = { band_range(scores, p, first, count, own) } }
    block.keys = block.ranges[1].keys + extra
    if extra > 0 then block.ranges[2] = range_of(own, extra, block.ranges[1].keys, p) end
    result.blocks[#result.blocks + 1] = block
    if in_chunks and block.keys > p.softmax_block then block.chunks = chunks_of(block, p) end
    for _, each in ipairs(block.chunks or { block }) do
      result.tile_columns = math.max(result.tile_columns, each.keys)
    end
    result.most_rows = math.max(result.most_rows, count)
  end
  result.tile_ld = divide.leading_dimension(result.tile_columns, p, "f32")
  result.distances_ld = types.whole_lines(result.most_rows + p.key_block, "f32")
  for _, block in ipairs(result.blocks) do
    for _, each in ipairs(block.chunks or { block }) do pad_scores(each, result.tile_ld, p) end
  end
  return result
end

-- The most blocks of queries of all heads, and their products with projected distances, that are written out.
local MOST_WRITTEN = 64

-- Returns the number of a head's blocks and of their products with projected distances.
local function lines_of(region)
  local count = #region.blocks
  for _, op in ipairs(region.chain) do
    for _, block in ipairs(op.op == "add_disentangled" and region.blocks or {}) do
      disentangled.each_product(op, region, block, function() count = count + 1 end)
    end
  end
  return count
end

--- True if the heads of an attention of known length are one loop: one worker takes them all, and they would be many
--- lines. Workers divide heads that are written out.
function attention.is_loop(region, spec)
  if spec.unroll == "all" or spec.workers[1] > 1 or #spec.workers > 1 then return false end
  local heads = region.scores.attributes.heads
  return heads > 1 and heads * lines_of(region) > MOST_WRITTEN
end

-- The least whole key blocks that are a loop.
local LEAST_KEY_LOOP = 5

--- Returns the least number of whole key blocks that are one loop.
function attention.least_key_loop(spec) return spec.unroll == "all" and math.huge or LEAST_KEY_LOOP end

-- Heads that share keys are in one chunk if there are at least this many chunks.
local LEAST_CHUNKS = 4

-- Number types of the keys and values whose heads may be rows of one product.
local together_of = { f32 = true, bf16 = true, [types.quantised] = true }

-- Returns how many heads are computed together for a sequence's one query: those that share keys. Nil if the query of
-- a head needs steps of its own.
local function heads_together(region)
  local scores, v = region.scores, region.context.operands.v
  if not scores.operands.k.kept then return nil end
  if not (together_of[scores.operands.k.type] and together_of[v.type]) then return nil end
  for _, op in ipairs(region.chain) do
    if not ops.class(op).heads_as_rows then return nil end
  end
  local heads = scores.attributes.heads
  local head_dim = scores.operands.q.shape[3] // heads
  if head_dim % types.group(scores.operands.q.type) > 0 then return nil end
  return heads // (region.context.attributes.kv_heads or heads)
end

-- The most chunks of a group of heads, when workers share the keys of one query.
local MOST_SHARES = 16

-- Returns the chunks that the keys of a group of heads come in, for the one query of a call of one row, if there are
-- more workers than groups: the least number that keeps all workers busy. Nil: workers divide groups. With three
-- groups, two workers read no slower: memory is the limit, and one has more of it while the other waits.
local function shares_of(region, together, workers)
  if not together then return nil end
  local groups, is_idle = region.scores.attributes.heads // together, false
  for _, threads in ipairs(workers) do is_idle = is_idle or threads > groups end
  if not is_idle then return nil end
  for shares = 1, MOST_SHARES do
    local is_busy = true
    for _, threads in ipairs(workers) do is_busy = is_busy and divide.keeps_busy(groups * shares, threads) end
    if is_busy then return shares end
  end
  return MOST_SHARES
end

--- Gives an attention of any length one block of queries, which a loop repeats, with all keys in a range: { left,
--- right: the keys before and after a query that it sees, -1: all; step: the queries of a block; panel; lanes:
--- its columns are a multiple of them; chunk_heads: the heads for which a worker packs keys and values once; continues:
--- whether it sees keys of earlier calls; of_source: whether it sees a source's, which another entry has made;
--- by_source: whether neighbouring sequences of one source, such as beams, are taken as one of more queries;
--- adds: whether it adds a call's keys and values to the state, as no attention before it has (plan/storage.lua);
--- together: the heads whose one query is a row of the same product, nil: none;
--- shares: the chunks of a group's keys that workers share for one row, nil: they do not; asked: whether a sequence has
--- one query, as no output asks for others }. spec: has call_rows, the most rows of a call, and workers, their numbers.
function attention.open_blocks(region, p, spec)
  local scores, call_rows = region.scores, spec.call_rows
  local most = scores.result.shape[4]
  local left, right = grouping.band(scores.attributes)
  local columns = words.round_up(most, LANES)
  local asked = scores.operands.q.growth[2] == 0
  local rows = asked and 1 or math.max(1, math.min(p.query_block, call_rows,
    math.max(LEAST_ROWS, p.tile_bytes // types.bytes(columns, "f32"))))
  local is_cut = left >= 0 or right >= 0
  local key_block = { panel = 0, first = 0, count = p.key_block, outputs = p.key_block }
  local range = { first_key = 0, keys = most, column = 0, key_blocks = { key_block },
    cut = is_cut and { lo = -most, hi = most } or nil }
  region.blocks = { { first = 0, count = rows, keys = most, ranges = { range } } }
  local together = heads_together(region)
  region.tile_columns, region.most_rows, region.key_block = most, math.max(rows, together or 0), p.key_block
  region.tile_ld = divide.leading_dimension(words.round_up(most, p.key_block), p, "f32")
  local heads = scores.attributes.heads
  local kv_heads = region.context.attributes.kv_heads or heads
  local of_source = scores.operands.k.kind == "state" or nil
  return { left = left, right = right, step = rows, panel = p.key_block, lanes = LANES,
    chunk_heads = kv_heads >= LEAST_CHUNKS and heads // kv_heads or 1,
    continues = scores.operands.k.kept ~= nil, of_source = of_source,
    by_source = of_source and together and not (is_cut or asked),
    together = together, shares = shares_of(region, together, spec.workers),
    asked = asked, count = asked and 1 or (call_rows + rows - 1) // rows }
end

--- Appends one line for each block.
function attention.dump(region, lines)
  if region.open then
    local o = region.open
    local queries = o.asked and "one query of a sequence" or ("queries in blocks of %d, each"):format(o.step)
    lines[#lines + 1] = ("        %s with keys from %s to %s"):format(queries,
      o.left < 0 and "the first" or ("%d before"):format(o.left), o.right < 0 and "the last" or
      ("%d after"):format(o.right))
    if o.continues and not o.adds and not o.of_source then lines[#lines + 1] = "        keys of an earlier layer" end
    if o.by_source then lines[#lines + 1] = "        sequences of one source together" end
    if o.together then
      lines[#lines + 1] = ("        one query of a sequence: heads together in groups of %d"):format(o.together)
    end
    if o.shares then
      lines[#lines + 1] = ("        one row, several workers: keys of a group in %d shares"):format(o.shares)
    end
    lines[#lines + 1] = ("        several workers: heads in chunks of %d"):format(o.chunk_heads)
    return
  end
  if region.is_loop then lines[#lines + 1] = "        heads in a loop" end
  for _, block in ipairs(region.blocks) do
    local texts = {}
    for i, range in ipairs(block.ranges) do
      texts[i] = ("[%d:%d]"):format(range.first_key, range.first_key + range.keys)
      local cut = range.cut
      if cut then
        texts[i] = ("%s row r keeps columns [%d + r:%d + r]%s"):format(texts[i], cut.lo, cut.hi,
          cut.keep and (" and before %d"):format(cut.keep) or "")
      end
    end
    lines[#lines + 1] = ("        queries [%d:%d] keys %s%s"):format(block.first, block.first + block.count,
      table.concat(texts, " "), block.chunks and (" in %d chunks"):format(#block.chunks)
        or region.fused_contexts[block] and ", context rounded strip by strip" or "")
  end
end

return attention
