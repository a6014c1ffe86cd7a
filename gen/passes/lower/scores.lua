-- scores.lua: lowers the operations between a tile of scores and its weights.
-- These are additions of positions and masks, the scale, the softmax or another weighting, and factors of heads. An
-- op is one entry of the table `ops` below; adjacent elementwise ops become one map over the tile.
local disentangled = require("passes.lower.disentangled")
local distances = require("passes.common.distances")
local op_table = require("data.ops")
local operands = require("data.operands")
local types = require("data.types")
local words = require("common.words")

local scores = {}

--- Returns the head of keys (or of values) that a query head reads.
function scores.key_head(at, k)
  local heads = at.region.scores.attributes.heads
  return at.head // (heads // (k.shape[3] // at.head_dim))
end

--- Returns the operand `columns` columns to the right in a tile of a type, by default f32.
function scores.shifted(tile, columns, type) return operands.moved(tile, types.bytes(columns, type or "f32")) end

local shifted = scores.shifted

-- Elementwise operations of the chain: op -> function(self, at, op, range), which returns the operation of a map on
-- the columns of a key range, its operand, and nil or such a pair that comes before it.
local ops = {}

function ops.scale(_, _, op) return { kind = "scale", factor = op.attributes.factor } end

function ops.softcap(_, _, op) return { kind = "softcap", factor = op.attributes.cap } end

-- Column d of the table is for the distance d - (queries - 1) from query to key. Rows of a tile are queries, or the
-- heads of one query.
function ops.add_distance(self, at, op, range)
  local table_ = op.operands.table
  local operand = self:at(table_, at.head, range.first_key - at.block.first + at.queries - 1, at.origin)
  if at.region.open then
    local step = types.bytes(1, "f32")
    operand.terms = { query = not at.together and -step or nil, from = at.region.open.left >= 0 and step or nil,
      past = at.region.open.continues and -step or nil,
      group = at.shared and types.bytes(table_.shape[#table_.shape], "f32") or nil }
  end
  if at.together then return { kind = "add", ld = table_.shape[#table_.shape] }, operand end
  return { kind = "add_band" }, operand
end

-- The same, times the number of a row's query and head, which an operation before it reads.
function ops.add_gated(self, at, op, range)
  local gates = op.operands.gates
  local _, band = ops.add_distance(self, at, op, range)
  return { kind = "add_gated_band" }, band,
    { operation = { kind = "gate", ld = self:ld(gates) }, operand = self:at(gates, at.block.first, at.head, at.origin) }
end

-- Returns the place of row `first` and column `first_key` of an array, and the distance of its rows. form: 0 [B][T],
-- 1 [S][T], 2 [B][H][S][T].
local function array_at(self, at, op, range)
  local array, form = op.operands.array, op.attributes.shape
  local width = array.shape[#array.shape]
  local row = form == 0 and 0 or (form == 2 and at.head * at.queries or 0) + at.block.first
  local operand = array.type == "i32" and self:at(array, row * width + range.first_key, 0, at.origin)
    or self:at(array, row, range.first_key, at.origin)
  return operand, form == 0 and 0 or width
end

function ops.add_array(self, at, op, range)
  local operand, ld = array_at(self, at, op, range)
  return { kind = ld == 0 and "bias" or "add", ld = ld }, operand
end

function ops.block_array(self, at, op, range)
  local operand, ld = array_at(self, at, op, range)
  local value = op.attributes.value
  if op.attributes.keeps then return { kind = "keep", ld = ld }, operand end
  return { kind = value and "add_where" or "mask_where", ld = ld, value = value }, operand
end

function ops.weigh(_, _, op)
  return { kind = op.attributes.relu and "weigh_relu" or "weigh", factor = op.attributes.scale }
end

function ops.head_scale(self, at, op)
  local factors = op.operands.factors
  if factors.values then return { kind = "scale", factor = factors.values[at.head + 1] } end
  return { kind = "scale_by" }, self:at(factors, op.attributes.layer, at.head, at.origin)
end

-- Lowers an operation between scores and weights that is no elementwise one, by its name.
local score_operations = {}

function score_operations.add_length(self, at, op)
  local range = at.block.ranges[1]
  self:row("add_length", { rows = at.block.count, cols = range.keys, ld = at.tile_ld, value = op.attributes.value },
    { s = shifted(at.tile, range.column),
      valid = self:value(op.operands.lengths, (op.attributes.offset or 0) - range.first_key, at.origin) })
end

function score_operations.add_places(self, at, op)
  local o = op.operands
  for _, range in ipairs(at.block.ranges) do
    self:row(o.along and "add_places_along" or "add_places",
      { rows = at.block.count, cols = range.keys, ld = at.tile_ld, distances = o.across.shape[2],
        places = o.along and o.along.shape[2] },
      { s = shifted(at.tile, range.column), queries = self:at(o.boxes, at.block.first, 0, at.origin),
        keys = self:at(o.boxes, range.first_key, 0, at.of_keys or at.origin),
        across = self:at(o.across, at.head, 0, at.origin), down = self:at(o.down, at.head, 0, at.origin),
        along = o.along and self:at(o.along, at.head, 0, at.origin) })
    if op.attributes.extra then return end -- keys of no box follow
  end
end

-- True if a softmax rounds its weights itself, because nobody reads them as floats.
local function rounds(self, at, op)
  local region = at.region
  return self.variant ~= "trace" and not at.state and op.op == "softmax" and region.exact == op
    and region.weights.op == "round_weights" and not self:is_stored(op.result)
end

-- Returns the place of the sinks of a block's rows, which are queries, or the heads of one query.
local function sinks_at(self, at, sinks)
  local operand = self:at(sinks, 0, at.head, at.origin)
  operand.terms = at.shared and { group = types.bytes(1, "f32") } or nil
  return operand
end

function score_operations.softmax(self, at, op)
  local sinks = op.operands.sinks
  local constants = { rows = at.block.count, cols = at.block.keys, ld = at.tile_ld, scale = op.attributes.scale }
  local arguments, suffix = { s = at.tile, state = at.state }, ""
  if sinks and (at.begins or not at.state) then
    constants.lds, arguments.sinks, suffix = at.together and 1 or 0, sinks_at(self, at, sinks), "_sinks"
  end
  if at.state then
    return self:row(at.begins and "softmax_begin" .. suffix or "softmax_more", constants, arguments)
  end
  local fn = op.attributes.fully_masked_nan and "softmax_nan" or "softmax" .. suffix
  if rounds(self, at, op) then
    constants.ldy, arguments.y, fn = at.weights_ld, at.weights, fn .. "_rounded"
  end
  self:row(fn, constants, arguments)
end

-- Rounds the weights of the tile to bf16, in a tile of their own.
function score_operations.round_weights(self, at)
  if rounds(self, at, at.region.exact) then return end
  self:emit { form = "map", constants = { rows = at.block.count, cols = at.block.keys, ld = at.weights_ld,
    type = "bf16" }, elementwise = { { kind = "load", argument = "x", ld = at.tile_ld }, { kind = "round" } },
    arguments = { y = at.weights, x = at.tile } }
end

-- Exponentials in int8: shipped steps round them at once, and sum them; a trace does so in three steps.
function score_operations.exponentials(self, at, op)
  local constants = { rows = at.block.count, cols = at.block.keys, ld = at.tile_ld, scale = op.attributes.scale }
  if self.variant == "trace" then return self:row("exponentials", constants, { s = at.tile }) end
  constants.ldy = at.weights_ld
  self:row("exponentials_rounded", constants, { y = at.weights, factors = at.factors, s = at.tile })
end

function score_operations.round_to_bytes(self, at)
  if self.variant ~= "trace" then return end
  self:row("round_to_bytes", { rows = at.block.count, cols = at.block.keys, ldx = at.tile_ld, ldy = at.weights_ld },
    { y = at.weights, x = at.tile })
end

function score_operations.weight_scale(self, at)
  if self.variant ~= "trace" then return end
  self:row("weight_scale", { rows = at.block.count, cols = at.block.keys, ldw = at.weights_ld, ldx = at.tile_ld },
    { factors = at.factors, w = at.weights, x = at.tile })
end

-- Adds query · table: [rows][distances], a product for each panel of the table. Element (r, j) of the block is at
-- distance r - j + keys - 1, a skew of one column per row.
local function relative_queries(self, at, op, key_block, column)
  local q, table_ = op.operands.x, op.operands.table
  local tile = at.region.scores.result.name .. "@relative"
  local ld = at.region.distances_ld
  self:scratch(tile, at.region.most_rows, ld)
  for _, piece in ipairs(distances.pieces(op, self.layouts[table_.name], at.block, key_block)) do
    local lda, operand = self:panel_at(table_, piece.row)
    self:product({ m = piece.count, n = at.block.count, k = at.head_dim, lda = lda, ldb = self:ld(q), ldc = ld,
      beta = 0 }, { a = operand, b = self:at(q, at.block.first, at.head * at.head_dim, at.origin),
      c = self:in_arena(tile, piece.before, "f32") })
  end
  self:emit { form = "map", constants = { rows = at.block.count, cols = key_block.count, ld = at.tile_ld },
    elementwise = { { kind = "add_reversed", argument = "r", ld = ld + 1 } },
    arguments = { y = shifted(at.tile, column), r = self:in_arena(tile, key_block.count - 1, "f32") } }
end

-- Adds key · table: [keys][distances]; transposed with the skew, it is [rows][keys].
local function relative_keys(self, at, op, key_block, column)
  local k, table_ = op.operands.x, op.operands.table
  local tile, transposed = at.region.scores.result.name .. "@relative", at.region.scores.result.name .. "@transposed"
  local block = at.region.key_block
  local ld = at.region.distances_ld
  self:scratch(tile, math.max(block, at.region.most_rows), ld)
  self:scratch(transposed, at.region.most_rows, block)
  for _, piece in ipairs(distances.pieces(op, self.layouts[table_.name], at.block, key_block)) do
    local lda, operand = self:panel_at(table_, piece.row)
    self:product({ m = piece.count, n = key_block.count, k = at.head_dim, lda = lda, ldb = self:ld(k), ldc = ld,
      beta = 0 }, { a = operand, b = self:at(k, key_block.first, scores.key_head(at, k) * at.head_dim, at.origin),
      c = self:in_arena(tile, piece.before, "f32") })
  end
  self:row("transpose", { rows = key_block.count, cols = at.block.count, ldx = ld - 1, ldy = block },
    { y = self:in_arena(transposed, 0, "f32"), x = self:in_arena(tile, key_block.count - 1, "f32") })
  self:emit { form = "map", constants = { rows = at.block.count, cols = key_block.count, ld = at.tile_ld },
    elementwise = { { kind = "add", argument = "r", ld = block } },
    arguments = { y = shifted(at.tile, column), r = self:in_arena(transposed, 0, "f32") } }
end

function score_operations.add_relative(self, at, op)
  local range = at.block.ranges[1]
  for _, key_block in ipairs(range.key_blocks) do
    local add = op.attributes.keys and relative_keys or relative_queries
    add(self, at, op, key_block, range.column + key_block.first - range.first_key)
  end
end

score_operations.add_disentangled = disentangled.add

-- Emits the pending elementwise ops on the columns of a tile.
local function flush(self, at, pending)
  if #pending == 0 then return end
  local arguments, number = { y = shifted(at.tile, pending.column) }, 1
  local operations = {}
  for i, each in ipairs(pending) do
    operations[i] = each.operation
    if each.operand then
      local name = "r" .. (number > 1 and number or "")
      arguments[name], number = each.operand, number + 1
      each.operation.argument = name
    end
  end
  self:emit { form = "map", elementwise = operations, arguments = arguments,
    constants = { rows = at.block.count, cols = pending.cols, ld = at.tile_ld } }
  for i = #pending, 1, -1 do pending[i] = nil end
end

local function add_elementwise(self, at, op, pending)
  local range = at.block.ranges[1]
  local cols = op_table.class(op).own_keys and range.keys or at.block.keys
  if #pending > 0 and pending.cols ~= cols then flush(self, at, pending) end
  local operation, operand, before = ops[op.op](self, at, op, range)
  pending.column, pending.cols = 0, cols
  pending[#pending + 1] = before
  pending[#pending + 1] = { operation = operation, operand = operand }
end

--- Emits the steps between a block's scores and its weights. mask() masks the tile; store(op, masked) copies its
--- contents if another op or the trace needs them. Addends may put NaN into masked elements, so masks come last. A
--- trace, which copies every op's result, masks each time.
function scores.lower(self, at, mask, store)
  local region, trace = at.region, self.variant == "trace"
  local pending, masked = {}, -math.huge
  local function settle(op)
    local is_wanted = op == region.last_scores or op == region.weights or op == region.exact
      or op.result.kind == "output"
    if not trace and not is_wanted then return end
    flush(self, at, pending)
    if trace then self.op_index = self.index_of[op] end
    if masked < 0 then mask() end
    store(op, masked)
  end
  settle(region.scores)
  for _, op in ipairs(region.chain) do
    if op_table.class(op).role == "scores_to_weights" then masked = 0.0 end
    self.op_index = self.index_of[op]
    if score_operations[op.op] then
      flush(self, at, pending)
      score_operations[op.op](self, at, op)
    else
      add_elementwise(self, at, op, pending)
    end
    settle(op)
  end
end

-- Ops that a comment does not name.
local is_implied = words.set { "scale", "round_to_bytes", "weight_scale" }

--- Returns "softmax(q · kᵀ)" with the terms that are added, for the comment above an attention.
function scores.describe(region)
  local o = region.scores.operands
  local text = region.scores.op ~= "additive_scores" and ("%s · %sᵀ"):format(o.q.name, o.k.name)
    or ("%s · tanh(%s + %s)"):format(o.score.name, o.q.name, o.k.name)
  for _, op in ipairs(region.chain) do
    local operand = op.operands.table or op.operands.array or op.operands.lengths or op.operands.factors
      or op.operands.boxes
    if op.op == "softmax" or op.op == "exponentials" then text = ("softmax(%s)"):format(text)
    elseif op.op == "weigh" then text = ("%s(%s)"):format(op.attributes.relu and "relu" or "", text)
    elseif op.op == "head_scale" then text = ("%s %s"):format(operand.name, text)
    elseif op.op == "add_gated" then
      text = ("%s + %s × %s"):format(text, op.operands.gates.name, operand.name)
    elseif op.op == "add_relative" or op.op == "add_disentangled" then
      text = ("%s + %s · %sᵀ"):format(text, op.operands.x.name, operand.name)
    elseif operand then text = ("%s + %s"):format(text, operand.name)
    elseif not is_implied[op.op] then text = ("%s(%s)"):format(op.op, text) end
  end
  return text
end

return scores
