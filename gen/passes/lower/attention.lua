-- attention.lua: lowers one attention, a head and a block of queries at a time.
-- Steps of a block are scores, terms added to them, masks if the block is on a mask's edge, weights in place, and
-- context. The transposed keys and the values are A, the queries and the attention weights B, scores and context C.
local forms = require("data.storage")
local keys = require("passes.lower.keys")
local operands = require("data.operands")
local score_ops = require("passes.lower.scores")
local step_forms = require("data.steps")
local types = require("data.types")
local words = require("common.words")

local attention = {}

local shifted = score_ops.shifted

-- Returns the open sizes of a tile whose columns are not keys: its rows; nil if all sizes are known.
local function open_rows(self) return self.open and { rows = self.open.rows } end

-- Calls body(row, rows) for the rows of an open block whose masks move by a column from row to row: all, or one after
-- the other if they are heads of one query.
local function each_query(self, at, body)
  if not at.together then return body(0, at.block.count) end
  self:with_open(setmetatable({ rows = false }, { __index = self.open }), function()
    for row = 0, at.block.count - 1 do body(row, 1) end
  end)
end

-- Masks an open block: what a static mask cuts, and the columns that fill the last vector.
local function mask_open(self, at)
  local range = at.block.ranges[1]
  local constants = { rows = at.block.count, cols = range.keys, ld = at.tile_ld }
  if range.cut then
    each_query(self, at, function(row, rows)
      self:row("mask_band", { rows = rows, cols = constants.cols, ld = at.tile_ld, lo = range.cut.lo,
        hi = range.cut.hi }, { s = shifted(at.tile, row * at.tile_ld) }, { lo = "lo", hi = "hi" })
    end)
  end
  self:row("mask_length", constants, { s = at.tile, valid = self:open_value("width", range.keys) })
end

-- Masks a block, element by element, if a static mask cuts it or lengths are given.
local function mask(self, at)
  if at.region.open then return mask_open(self, at) end
  local region, block = at.region, at.block
  local lengths = region.scores.operands.lengths
  for _, range in ipairs(block.ranges) do
    local tile = shifted(at.tile, range.column)
    local constants = { rows = block.count, cols = range.keys, ld = at.tile_ld }
    if range.cut then
      constants.lo, constants.hi, constants.keep = range.cut.lo, range.cut.hi, range.cut.keep
      self:row(range.cut.keep and "mask_band_prefix" or "mask_band", constants, { s = tile })
    end
    if lengths and range == block.ranges[1] then
      self:row("mask_length", { rows = block.count, cols = range.keys, ld = at.tile_ld },
        { s = tile, valid = self:value(lengths, (region.scores.attributes.offset or 0) - range.first_key, at.origin) })
    end
  end
end

-- Returns the place of a key's values as the product with the weights reads them.
local function values_at(self, region, key, column, origin)
  if region.values then return self:packed_at(region.values, key, column, origin) end
  return self:at(region.context.operands.v, key, column, origin)
end

-- Returns the type of what multiplies keys or values: floats if their pages have integers.
local function multiplied(storage, tensor) return forms.bits(storage) and "f32" or tensor.type end

local function values_ld(self, region)
  return region.values and forms.packed(region.values).ld(region.values) or self:ld(region.context.operands.v)
end

-- Returns the end of the name of a repair: how values are stored.
local function suffix_of(region)
  if forms.bits(region.values) then return "_bytes" end
  return types.group(region.context.operands.v.type) > 1 and "_pairs" or ""
end

-- Computes rows of the context of an open block again that a masked key's NaN or infinity reached.
local function repair_open(self, at, v_column, head_dim, c, ldc)
  local range = at.block.ranges[1]
  if not range.cut then return end
  local has_pages, v = forms.bits(at.region.values), at.region.context.operands.v
  each_query(self, at, function(row, rows)
    local constants = has_pages and keys.page(at.region.values) or { ldv = values_ld(self, at.region) }
    self:row("context_repair" .. suffix_of(at.region),
      words.merged(constants, { rows = rows, cols = range.keys, head_dim = head_dim, ldc = ldc, ldp = at.weights_ld,
        lo = range.cut.lo, hi = range.cut.hi }),
      { c = operands.moved(c, types.bytes(row * ldc, "f32")),
        p = operands.moved(at.weights, types.bytes(row * at.weights_ld, multiplied(at.region.values, v))),
        v = values_at(self, at.region, 0, v_column, at.of_keys), valid = self:open_value("width", range.keys) },
      { lo = "lo", hi = "hi" })
  end)
end

-- Computes rows of the context again that a masked key's NaN or infinity reached.
local function repair(self, at, v_column, head_dim, c, ldc)
  if at.region.weight_scale then return end -- integers
  if at.region.open then return repair_open(self, at, v_column, head_dim, c, ldc) end
  local region, block, origin = at.region, at.block, at.origin
  local lengths = region.scores.operands.lengths
  local first = block.ranges[1]
  local suffix = suffix_of(region)
  local p, ldp, ldv = at.weights, at.weights_ld, values_ld(self, region)
  if region.context.attributes.nonzero then
    local ranges = words.map(block.ranges, function(range) return { range.column, range.first_key, range.keys } end)
    self:row("context_repair_nonzero" .. suffix,
      { rows = block.count, head_dim = head_dim, ldc = ldc, ldp = ldp, ldv = ldv,
        ranges = step_forms.ranges(ranges), count = #ranges, cols = block.keys },
      { c = c, p = p, v = values_at(self, region, 0, v_column, origin) })
  elseif first.cut or lengths then
    self:row("context_repair" .. suffix,
      { rows = block.count, cols = first.keys, head_dim = head_dim, ldc = ldc, ldp = ldp, ldv = ldv,
        lo = first.cut and first.cut.lo or -block.count,
        hi = first.cut and first.cut.hi or first.keys },
      { c = c, p = p, v = values_at(self, region, first.first_key, v_column, origin),
        valid = lengths and self:value(lengths, -first.first_key, origin) or self:integer(first.keys) })
  end
end

-- Returns the place of a head's context: its width, its first column of the values, the operand.
local function context_at(self, at)
  local op = at.region.context
  local v, heads = op.operands.v, op.attributes.heads
  local kv_heads = op.attributes.kv_heads or heads
  local head_dim = v.shape[3] // kv_heads
  return head_dim, at.head // (heads // kv_heads) * head_dim,
    self:at(op.result, at.block.first, at.head * head_dim, at.origin)
end

-- Scales rows of integers, which a product has just written to the tile of sums, into y. of_rows: the scales of rows
-- { operand, ld }; of_columns: the operands of columns; outputs: columns.
local function scale_sums(self, at, sums, sums_ld, y, ldy, of_rows, of_columns, outputs)
  self:emit { form = "map", constants = { rows = at.block.count, cols = outputs, ld = ldy },
    elementwise = { { kind = "load_integers", argument = "x", ld = sums_ld },
      { kind = "scale_row", argument = "r", ld = of_rows[2] }, { kind = "scale_column", argument = "r2" } },
    arguments = { y = y, x = sums, r = of_rows[1], r2 = of_columns } }
end

-- Emits weights · values of integers, and their scales.
local function integer_context(self, at, c, ldc)
  local region, range = at.region, at.block.ranges[1]
  local o = region.context.operands
  local head_dim, v_column = context_at(self, at)
  local ld = types.whole_lines(head_dim, "i32")
  local sums = self:in_arena(region.context.result.name .. "@sums", 0, "i32")
  self:scratch(sums.buffer, region.most_rows, ld, "i32")
  self:product({ m = head_dim, n = at.block.count, k = range.keys, lda = values_ld(self, region), ldb = at.weights_ld,
    ldc = ld, beta = 0, types = types.product(o.v.type) },
    { a = values_at(self, region, range.first_key, v_column, at.of_keys or at.origin), b = at.weights, c = sums },
    { sizes = region.open and { n = "queries", k = "width" } or nil })
  self:with_open(open_rows(self), function()
    scale_sums(self, at, sums, ld, c, ldc, { at.factors, 1 }, self:at(o.v_scale, 0, v_column, at.origin), head_dim)
  end)
end

-- Calls body(tile, of_panel) in a loop over the panels of keys that an open block sees. tile: the place of their
-- scores; of_panel: the origin of the panel. form: of the loop, "seen" by default.
local function each_open_panel(self, at, body, form)
  local open = at.region.open
  self:loop(form or "seen", { step = open.panel, lanes = open.lanes, left = open.left,
    right = at.together and -1 or open.right, count = at.block.keys // open.panel + 1 }, function()
    local tile = operands.moved(at.tile, 0, { key = types.bytes(1, "f32"),
      from = open.left >= 0 and -types.bytes(1, "f32") or nil, group = at.tile.terms and at.tile.terms.group })
    body(tile, { over = at.of_keys.over, packed = "key", by_column = at.of_keys.by_column })
  end)
end

-- Emits a row operation on pages of keys or values, whose columns are open: `cols` is their symbol.
local function with_page(self, fn, storage, cols, constants, arguments)
  self:with_open({ rows = self.open.rows, cols = cols }, function()
    self:row(fn, words.merged(keys.page(storage), constants), arguments)
  end)
end

-- Emits weights · values in pages of integers, a row operation for each page.
local function context_of_pages(self, at, c, ldc)
  local region, values = at.region, at.region.values
  local head_dim, v_column = context_at(self, at)
  self:with_open(open_rows(self), function()
    self:row("fill", { rows = at.block.count, cols = head_dim, ldy = ldc, value = 0.0 }, { y = c })
  end)
  each_open_panel(self, at, function(tile, of_panel)
    with_page(self, "context_of_page", values, "taken",
      { rows = at.block.count, cols = region.key_block, ldc = ldc, ldp = at.weights_ld },
      { c = c, p = tile, v = self:packed_at(values, 0, v_column, of_panel) })
  end)
  repair(self, at, v_column, head_dim, c, ldc)
end

-- Emits weights · values, into c, whose rows are ldc apart.
local function context(self, at, c, ldc)
  local region, block, origin = at.region, at.block, at.origin
  if region.weight_scale then return integer_context(self, at, c, ldc) end
  if forms.bits(region.values) then return context_of_pages(self, at, c, ldc) end
  local v = region.context.operands.v
  local head_dim, v_column = context_at(self, at)
  local beta = 0
  for _, range in ipairs(block.ranges) do
    local shape = { m = head_dim, n = block.count, k = range.keys, lda = values_ld(self, region), ldb = at.weights_ld,
      ldc = ldc, beta = beta, types = types.product(v.type) }
    self:product(shape, { a = values_at(self, region, range.first_key, v_column, at.of_keys or origin),
      b = shifted(at.weights, range.column, v.type), c = c },
      { sizes = region.open and { n = self.open.rows, k = "width" } or nil, fused_sums = region.fused_contexts[block] })
    beta = 1
  end
  repair(self, at, v_column, head_dim, c, ldc)
end

-- Bytes of a row of queries as integers: before these, and for each column of whole groups (runtime/ops/kept.h).
local ROW_HEAD, ROW_EACH, ROW_GROUP = 8, 2, 8

-- Emits query · key for an open block whose keys are in pages of integers: the queries as integers, then a row
-- operation for each page.
local function scores_of_pages(self, at, q, k_column)
  local region, head_dim = at.region, at.head_dim
  local bytes = ROW_HEAD + ROW_EACH * words.round_up(head_dim, ROW_GROUP)
  local integers = self:in_arena(region.scores.result.name .. "@queries", 0, types.quantised)
  self:scratch(integers.buffer, region.most_rows, bytes, types.quantised)
  self:with_open(open_rows(self), function()
    self:row("integers_of_queries", { rows = at.block.count, cols = head_dim,
      ldx = at.together and head_dim or self:ld(q), ldy = bytes },
      { y = integers, x = self:at(q, 0, at.head * head_dim, at.origin) })
  end)
  each_open_panel(self, at, function(tile, of_panel)
    with_page(self, "scores_of_page", region.keys, "padded",
      { rows = at.block.count, cols = region.key_block, lds = at.tile_ld, ldq = bytes },
      { s = tile, q = integers, k = self:packed_at(region.keys, 0, k_column, of_panel) })
  end, at.shared and "share")
end

-- Emits query · key for an open block, a product for each panel.
local function open_scores(self, at, q, k, k_column)
  local region, open = at.region, at.region.open
  if forms.bits(region.keys) then return scores_of_pages(self, at, q, k_column) end
  each_open_panel(self, at, function(tile, of_panel)
    self:product({ m = open.panel, n = at.block.count, k = at.head_dim, lda = region.key_block,
      ldb = at.together and at.head_dim or self:ld(q), ldc = at.tile_ld, beta = 0,
      types = types.product(k.type) },
      { a = self:packed_at(region.keys, 0, k_column, of_panel), b = self:at(q, 0, at.head * at.head_dim, at.origin),
        c = tile },
      { a_room = true, sizes = { n = self.open.rows, m = "padded" } })
  end, at.shared and "share")
end

-- Emits query · key, a product for each key block of the block.
local function dot_scores(self, at)
  local q, k = at.region.scores.operands.q, at.region.scores.operands.k
  local head_dim = at.head_dim
  local k_column = score_ops.key_head(at, k) * head_dim
  if at.region.open then return open_scores(self, at, q, k, k_column) end
  self:each_key_block(at, function(key_block, column)
    self:product({ m = key_block.outputs, n = at.block.count, k = head_dim, lda = at.region.key_block,
      ldb = self:ld(q), ldc = at.tile_ld, beta = 0, types = types.product(k.type) },
      { a = self:packed_at(at.region.keys, key_block.first, k_column, at.origin),
        b = self:at(q, at.block.first, at.head * head_dim, at.origin), c = shifted(at.tile, column) },
      { outputs = key_block.count, a_room = key_block.first % at.region.key_block % types.per_line("f32") == 0 })
  end)
end

-- Emits query · key of integers, and scales, for each key block. Scales of keys are before a panel's groups.
local function integer_scores(self, at)
  local region, o = at.region, at.region.scores.operands
  local k_column, place = score_ops.key_head(at, o.k) * at.head_dim, forms.packed(region.keys)
  local ld = region.key_block
  local sums = self:in_arena(region.scores.result.name .. "@sums", 0, "i32")
  self:scratch(sums.buffer, region.most_rows, ld, "i32")
  local rows = { self:at(o.q_scale, at.block.first, at.head, at.origin), self:ld(o.q_scale) }
  local q = self:at(o.q, at.block.first, at.head * at.head_dim, at.origin)
  local function one(groups, tile, m, how)
    self:product({ m = m, n = at.block.count, k = at.head_dim, lda = ld, ldb = self:ld(o.q), ldc = ld, beta = 0,
      types = types.product(o.k.type) },
      { a = self:before(groups, place.start(region.keys), o.k.type), b = q, c = sums }, how)
    local open = how.sizes and setmetatable({ cols = how.sizes.m }, { __index = self.open })
    self:with_open(open or self.open, function()
      scale_sums(self, at, sums, ld, tile, at.tile_ld, rows, self:before(groups, place.scales(region.keys), o.k.type),
        how.outputs or m)
    end)
  end
  if region.open then
    return each_open_panel(self, at, function(tile, of_panel)
      one(self:packed_at(region.keys, 0, k_column, of_panel), tile, region.open.panel,
        { a_room = true, sizes = { n = "queries", m = "padded" } })
    end)
  end
  self:each_key_block(at, function(key_block, column)
    one(self:packed_at(region.keys, key_block.first, k_column, at.origin), shifted(at.tile, column), key_block.outputs,
      { outputs = key_block.count, a_room = key_block.first % region.key_block % types.per_line("f32") == 0 })
  end)
end

-- Emits score · tanh(query + key), a row operation for each key block of the block.
local function additive_scores(self, at)
  local o = at.region.scores.operands
  local head_dim = at.head_dim
  local k_column = score_ops.key_head(at, o.k) * head_dim
  for _, range in ipairs(at.block.ranges) do
    for _, key_block in ipairs(range.key_blocks) do
      self:row("additive_scores", { rows = at.block.count, cols = key_block.count, head_dim = head_dim,
        lds = at.tile_ld, ldq = self:ld(o.q), ldk = at.region.key_block }, {
        s = shifted(at.tile, range.column + key_block.first - range.first_key),
        q = self:at(o.q, at.block.first, at.head * head_dim, at.origin),
        keys = self:packed_at(at.region.keys, key_block.first, k_column, at.origin),
        score = self:at(o.score, at.head, 0, at.origin),
      })
    end
  end
end

local scoring = { scores = dot_scores, scores_of_integers = integer_scores, additive_scores = additive_scores }

-- In a trace, copies the tile into the copy of an op's result.
local function trace_copy(self, at, op)
  local call_rows = at.region.open and not at.region.open.asked and self.state.spec.call_rows
  local row = at.head * (call_rows or at.queries) + at.block.first
  local tile, ld, origin = at.tile, at.tile_ld, at.origin
  if op == at.region.weight_scale then
    return self:with_open(open_rows(self), function()
      self:trace_copy(op.result, at.factors, 1,
        { row = row, rows = at.block.count, column = 0, cols = 1, origin = at.origin })
    end)
  end
  if op == at.region.weights and op ~= at.region.exact then tile, ld = at.weights, at.weights_ld end
  if at.region.open and at.region.open.left >= 0 then
    origin = setmetatable({ columns = "from" }, { __index = origin })
  end
  for _, range in ipairs(at.block.ranges) do
    self:trace_copy(op.result, shifted(tile, range.column, op.result.type), ld,
      { row = row, rows = at.block.count, column = range.first_key, cols = range.keys, origin = origin })
  end
end

-- Copies the tile, scores or weights, if anything other than the next op reads it: the block from the tile, and
-- `masked` for places where a mask left no block. If nobody else reads it, only a trace copies it.
local function store(self, at, op, masked)
  local result = op.result
  if not self:is_stored(result) then return trace_copy(self, at, op) end
  local row, done = at.head * at.queries + at.block.first, 0
  local function fill(stop)
    if stop <= done then return end
    self:row("fill", { rows = at.block.count, cols = stop - done, ldy = self:ld(result), value = masked },
      { y = self:at(result, row, done, at.origin) })
  end
  for _, range in ipairs(at.block.ranges) do
    fill(range.first_key)
    self:row("copy", { rows = at.block.count, cols = range.keys, ldx = at.tile_ld, ldy = self:ld(result) },
      { y = self:at(result, row, range.first_key, at.origin), x = shifted(at.tile, range.column) })
    done = range.first_key + range.keys
  end
  fill(result.shape[4])
end

-- Emits the weights of a block, or of a chunk of it, in the tile, from scores that are there.
local function weights_of_scores(self, at)
  local region = at.region
  score_ops.lower(self, at, function() mask(self, at) end, function(op, masked)
    if not (at.state and op == region.weights) then store(self, at, op, masked) end
  end)
  self.op_index = self.index_of[region.context]
end

-- Emits the scores and weights of a block, or of a chunk of it, in the tile.
local function weights(self, at)
  self.op_index = self.index_of[at.region.scores]
  scoring[at.region.scores.op](self, at)
  weights_of_scores(self, at)
end

-- In a trace, emits the weights of a block that came in chunks, from its traced scores.
local function trace_weights(self, at, chunks)
  if self.variant ~= "trace" then return end
  local region = at.region
  local softmax, row = region.weights, at.head * at.queries + at.block.first
  local ld = self.storage[softmax.result.name].width
  self.op_index = self.index_of[softmax]
  for _, chunk in ipairs(chunks) do
    local first_key = chunk.ranges[1].first_key
    self:row("softmax_of", { rows = chunk.count, cols = chunk.keys, ldx = ld, ldy = ld,
      scale = softmax.attributes.scale }, { y = self:trace_at(softmax.result, row, first_key, at.origin),
      x = self:trace_at(region.last_scores.result, row, first_key, at.origin), state = at.state })
  end
end

-- Emits a block whose keys come in chunks. The context of each is added to that of the chunks before, which shrinks
-- if a later chunk has a larger score.
local function block_in_chunks(self, at)
  local region, block = at.region, at.block
  local name = region.scores.result.name
  local head_dim, _, c = context_at(self, at)
  local ldc, ld = self:ld(region.context.result), region.chunk_ld
  at.state = self:in_arena(name .. "@state", 0, "f32")
  local partial = self:in_arena(name .. "@partial", 0, "f32")
  self:scratch(at.state.buffer, 3, region.most_rows)
  self:scratch(partial.buffer, region.most_rows, ld)
  for i, chunk in ipairs(block.chunks) do
    at.block, at.begins = chunk, i == 1
    weights(self, at)
    if i == 1 then
      context(self, at, c, ldc)
    else
      context(self, at, partial, ld)
      self:row("softmax_add", { rows = block.count, cols = head_dim, ldy = ldc, ldx = ld },
        { y = c, x = partial, state = at.state })
    end
  end
  at.block = block
  self:row("softmax_end", { rows = block.count, cols = head_dim, ldy = ldc }, { y = c, state = at.state })
  trace_weights(self, at, block.chunks)
end

-- Rounds a block's context, and copies it for a trace that keeps a copy.
local function finish(self, at)
  local region, block = at.region, at.block
  local head_dim, _, c = context_at(self, at)
  local result = region.context.result
  local area = { row = block.first, rows = block.count, column = at.head * head_dim, cols = head_dim,
    origin = at.origin }
  self:with_open(open_rows(self), function()
    self:trace_copy(result, c, self:ld(result), area)
    if region.round then self:round(region.round, result, area) end
  end)
end

-- Emits one head's block of queries.
local function block_steps(self, at)
  self:unit()
  local head_dim = at.region.context.result.shape[3] // at.region.scores.attributes.heads
  at.origin.unit_first, at.origin.column = at.block.first, at.head * head_dim
  if at.block.chunks then
    block_in_chunks(self, at)
  else
    weights(self, at)
    local _, _, c = context_at(self, at)
    context(self, at, c, self:ld(at.region.context.result))
  end
  finish(self, at)
end

-- Emits heads of a sequence whose length is open: for each, a loop over blocks of queries.
local function open_heads(self, region, at, first, last)
  local open, block = region.open, region.blocks[1]
  local packed_from = open.left >= 0 and { "first", "from" } or { "first" }
  self.op_index = self.index_of[region.scores]
  local group = at.heads // (region.context.attributes.kv_heads or at.heads)
  self:heads(last - first + 1, first % group == 0 and group or 1, ("heads %d to %d"):format(first, last), function(i)
    local h = first + i
    self.op_index = self.index_of[region.scores]
    self:note(("head %d"):format(h))
    self:loop(open.asked and "asked" or "queries", open, function()
      local of_head = setmetatable({ block = block, head = h,
        origin = { block_first = 0, unit_first = 0, column = 0, over = { "first", "query" },
          pooled = { "sequence" } },
        of_keys = { over = packed_from, packed = open.left >= 0 and "from" or nil } }, { __index = at })
      self:with_open({ rows = "queries", cols = "width", columns = "columns" }, function()
        block_steps(self, of_head)
      end)
    end)
  end)
end

-- Returns the parameters of one query, of which `count` heads are rows of a product: at, with a block that the query's
-- window cuts. more: further parameters.
local function of_one_query(region, at, count, more)
  local all, left = region.blocks[1], region.open.left
  local range = setmetatable({ cut = left >= 0 and all.ranges[1].cut }, { __index = all.ranges[1] })
  more.block, more.together = { first = 0, count = count, keys = all.keys, ranges = { range } }, true
  return setmetatable(more, { __index = at })
end

-- Emits heads [first, first + count) of a sequence's one query, whose rows are a head's width apart. turn: of which
-- sequences, as data/loops.lua has it; nil: of all.
local function single_query(self, region, at, first, count, turn)
  local open, head_dim = region.open, at.head_dim
  local result = region.context.result
  local width = result.shape[3] // at.heads
  self.op_index = self.index_of[region.scores]
  self:note(count == 1 and ("head %d, one query"):format(first)
    or ("heads %d to %d, one query"):format(first, first + count - 1))
  self:loop("single", { count = 1, heads = count, turn = turn, lanes = open.lanes, left = open.left,
    panel = open.panel, is_apart = self.divided and open.shares ~= nil }, function()
    local together = of_one_query(region, at, count, { head = first,
      origin = { block_first = 0, unit_first = 0, column = first * head_dim, over = { "first" } },
      of_keys = { over = { "first" }, packed = open.left >= 0 and "from" or nil } })
    self:unit()
    self:with_open({ rows = "heads", cols = "width", columns = "columns" }, function()
      weights(self, together)
      context(self, together, self:at(result, 0, first * width, together.origin), width)
    end)
    if region.round then
      self:round(region.round, result,
        { row = 0, rows = 1, column = first * width, cols = count * width, origin = together.origin })
    end
  end)
end

-- Emits the heads of a sequence, first the heads of one query if they are computed together. A trace has each by
-- itself. is_divided: for the one head that a unit has; units of heads computed together share the sequences.
local function all_heads(self, region, at, first, last, is_divided)
  local together = self.variant ~= "trace" and region.open.together
  if not together then return open_heads(self, region, at, first, last) end
  if is_divided and together > 1 then
    for h = first, last do single_query(self, region, at, h - h % together, together, h % together) end
  else
    self.op_index = self.index_of[region.scores]
    self:heads((last - first + together) // together, 1, ("heads %d to %d, one query"):format(first, last), function(i)
      single_query(self, region, at, first + i * together, together)
    end)
  end
  self:loop("several", { count = 1 }, function() open_heads(self, region, at, first, last) end)
end

-- Emits a task that workers share for a call of one row, in chunks of groups of heads. fields: of the scope: groups;
-- shares of each; heads: a group's; is_of_head: steps are of one head, not of the rows of a product.
local function shared_task(self, region, fields, body)
  local open = region.open
  fields.count, fields.lanes, fields.left, fields.panel = 1, open.lanes, open.left, open.panel
  fields.window, fields.of_source = open.window, open.of_source
  self.task = self.task + 1
  self:one_unit(function()
    self:loop("alone", fields, function()
      self:with_open({ rows = not fields.is_of_head and "heads", cols = "width", columns = "columns" }, body)
    end)
  end)
end

-- Returns a tile of each head's scores or weights that workers share.
local function shared_tile(self, tile, heads, ld, type)
  local shared = self:in_arena(tile.buffer .. "@shared", 0, type)
  self:shared_scratch(shared.buffer, heads, ld, type)
  return shared
end

-- Emits the attention of a call of one row, whose keys workers share, in three tasks: scores of some keys, weights of a
-- head, context of a group.
local function shared_query(self, region, at)
  local open, count, head_dim = region.open, region.open.together, at.head_dim
  local groups, v, result = at.heads // count, region.context.operands.v, region.context.result
  local width = result.shape[3] // at.heads
  local tile = shared_tile(self, at.tile, at.heads, at.tile_ld, "f32")
  local is_rounded = at.weights.buffer ~= at.tile.buffer
  local type = is_rounded and region.weights.result.type or "f32"
  local of_weights = is_rounded and shared_tile(self, at.weights, at.heads, at.weights_ld, type) or tile
  local function with_group(operand, rows, ld, of)
    return operands.moved(operand, 0, { group = types.bytes(rows * ld, of) })
  end
  local function of_keys(by_column)
    return { over = {}, packed = open.left >= 0 and "from" or nil, by_column = by_column }
  end
  local function at_of(rows, more)
    more.head, more.shared = 0, true
    more.tile = with_group(tile, rows, at.tile_ld, "f32")
    more.weights = with_group(of_weights, rows, at.weights_ld, type)
    return of_one_query(region, at, rows, more)
  end
  shared_task(self, region, { groups = groups, shares = open.shares, heads = count }, function()
    self.op_index = self.index_of[region.scores]
    self:note("one row: scores")
    scoring[region.scores.op](self, at_of(count, { origin = { over = {}, by_column = { group = count * head_dim } },
      of_keys = of_keys { group = head_dim } }))
  end)
  shared_task(self, region, { groups = at.heads, shares = 1, heads = 1, is_of_head = true }, function()
    self:note("one row: weights of a head")
    weights_of_scores(self, at_of(1, { origin = { over = {} } }))
  end)
  shared_task(self, region, { groups = groups, shares = 1, heads = count }, function()
    self.op_index = self.index_of[region.context]
    self:note("one row: context")
    local origin = { block_first = 0, unit_first = 0, column = 0, over = {}, by_column = { group = count * width } }
    context(self, at_of(count, { origin = origin, of_keys = of_keys { group = v.shape[3] // groups } }),
      self:at(result, 0, 0, origin), width)
    if region.round then
      self:with_open({}, function()
        self:round(region.round, result, { row = 0, rows = 1, column = 0, cols = count * width, origin = origin })
      end)
    end
  end)
end

-- Packs the keys and values of a sequence, or adds them to its state, if they are not there.
local function pack_open(self, region)
  if region.open.adds then
    self:add_rows(region.scores.operands.k, region.keys)
    self:add_rows(region.context.operands.v, region.values)
  end
  if region.open.continues then return end
  self:pack_open_rows(region.scores.operands.k, region.keys, region.open)
  self:pack_open_rows(region.context.operands.v, region.values, region.open)
end

-- Emits a loop over the sequences of an attention, as the plan takes them together. A trace has each by itself.
local function each_together(self, region, body)
  local open = region.open
  self:loop(open.by_source and self.variant ~= "trace" and "sources" or "sequences",
    { count = 1, window = open.window, of_source = open.of_source }, body)
end

-- Lowers an attention that workers divide, over sequences whose state keeps keys and values: a task adds the new ones,
-- another has a unit for each head.
local function divide_continued(self, region, at)
  if region.open.adds then
    each_together(self, region, function() pack_open(self, region) end)
    self.task = self.task + 1
  end
  for head = 0, at.heads - 1 do
    self:one_unit(function()
      each_together(self, region, function() all_heads(self, region, at, head, head, true) end)
    end)
  end
  if region.open.shares then shared_query(self, region, at) end
end

-- Lowers an attention over the sequences of a call, each as long as it is. Where workers divide a call, a unit has the
-- heads that the plan says (chunk_heads), and packs their keys and values into its own memory.
local function lower_open(self, region, at)
  if not self.divided then
    return each_together(self, region, function()
      pack_open(self, region)
      all_heads(self, region, at, 0, at.heads - 1)
    end)
  end
  if region.open.continues then return divide_continued(self, region, at) end
  local kv_heads = region.context.attributes.kv_heads or at.heads
  local function of_head(storage, tensor, kv_head)
    local columns = tensor.shape[3] // kv_heads
    return keys.of_head(storage, kv_head * columns, columns)
  end
  for first = 0, at.heads - 1, region.open.chunk_heads do
    local kv_head = first // (at.heads // kv_heads)
    local own = setmetatable({ keys = of_head(region.keys, region.scores.operands.k, kv_head),
      values = of_head(region.values, region.context.operands.v, kv_head) }, { __index = region })
    self:one_unit(function()
      self:loop("sequences", { count = 1 }, function()
        self.op_index = self.index_of[region.scores]
        self:note(("keys of head %d"):format(first))
        pack_open(self, own)
        open_heads(self, own, setmetatable({ region = own }, { __index = at }), first,
          first + region.open.chunk_heads - 1)
      end)
    end)
  end
end

function attention.lower(self, region)
  local scores = region.scores
  local q = scores.operands.q
  local heads = scores.attributes.heads
  local head_dim = q.shape[3] // heads
  local tile = self:in_arena(scores.result.name .. "@tile", 0, "f32")
  local tile_ld = region.tile_ld
  self:scratch(tile.buffer, region.most_rows, tile_ld)
  local v, weights_tile, weights_ld = region.context.operands.v, tile, tile_ld
  if multiplied(region.values, v) ~= "f32" then
    local type = region.weights.result.type
    weights_tile, weights_ld = self:in_arena(scores.result.name .. "@rounded", 0, type),
      types.whole_lines(tile_ld, type)
    self:scratch(weights_tile.buffer, region.most_rows, weights_ld, type)
  end
  local factors = region.weight_scale and self:in_arena(scores.result.name .. "@factors", 0, "f32")
  if factors then self:scratch(factors.buffer, 1, region.most_rows) end
  local queries = scores.result.shape[3]
  self.op_index = self.index_of[scores]
  self:note(("%s = %s · %s   %d heads of %d x %d x %d"):format(region.context.result.name,
    score_ops.describe(region), v.name, heads, queries, scores.result.shape[4], head_dim))
  local at = { region = region, heads = heads, head_dim = head_dim, queries = queries, tile = tile, tile_ld = tile_ld,
    weights = weights_tile, weights_ld = weights_ld, factors = factors }
  if region.open then return lower_open(self, region, at) end
  self:each_sequence(function(origin)
    self:pack_rows(scores.operands.k, region.keys, origin)
    self:pack_rows(v, region.values, origin)
    local function head(h)
      self.op_index = self.index_of[scores]
      self:note(("head %d"):format(h))
      for _, block in ipairs(region.blocks) do
        block_steps(self, setmetatable({ block = block, head = h, origin = origin }, { __index = at }))
      end
    end
    if not region.is_loop then
      for h = 0, heads - 1 do head(h) end
      return
    end
    self.op_index = self.index_of[scores]
    local group = heads // (region.context.attributes.kv_heads or heads)
    self:heads(heads, group, ("heads 0 to %d"):format(heads - 1), head)
  end)
end

return attention
