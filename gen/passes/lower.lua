-- lower.lua: turns each operation of a planned graph into steps on tiles.
-- Steps are products, elementwise maps on their tiles, row operations, transposes and copies. This pass and its
-- folder alone know that libxsmm is column-major, and turn rows and columns into offsets.
--
-- Before: state.plan. After: state.programs = a list of { entry, variant, segments, buffers }: the entry as it ships,
-- then as trace. A trace writes every tensor of the graph out. Where the shipped steps fuse or keep only a tile, it
-- splits the map and copies the tile.
--
-- A step names its operands as { buffer, offset, terms }: bytes from the buffer's first on, plus for each term its
-- stride, in bytes, times a symbol: `s` the first sequence of the micro-batch, `b` the sequence within it. Equal
-- steps of a program share their constants, kernel, batch and elementwise operations, which nobody changes.
local alike = require("common.alike")
local attention = require("passes.lower.attention")
local budget = require("passes.common.budget")
local equation = require("passes.lower.equation")
local keys = require("passes.lower.keys")
local products = require("passes.lower.products")
local sequence = require("passes.lower.sequence")
local step_text = require("data.step_text")
local steps = require("data.steps")
local types = require("data.types")
local words = require("common.words")

local lower = {}

local buffer_of = keys.buffer_of

local Lowering = {}
Lowering.__index = Lowering

lower.variants = { "ship", "trace" }

local external_class = { input = "in", output = "out" }

-- Returns the origin of a region's tiles: block_first rows into the micro-batch, unit_first for the rows of a unit,
-- and the panel's column. loop: whether a loop over b runs.
local function rows_origin(block) return { block_first = block.first, unit_first = block.first, column = 0 } end

local calls = words.set { "product", "map", "row" }

local ROUND = { kind = "round" }

-- Maximum columns of a map that rounds; its rows are on the stack before they are rounded.
local MOST_ROUNDED = 1024

-- Storage forms of tensors that a trace copies.
local traced = words.set { "fused", "tile", "transposed", "unit", "by_head", "key_pairs", "value_pairs" }

-- Storage forms without rows.
local in_pairs = words.set { "key_pairs", "value_pairs" }

local operation_fields = { "kind", "fn", "argument", "ld", "factor", "value" }

-- Returns a function that gives equal steps one table of constants, one kernel, one batch, one list of elementwise
-- operations.
local function sharing()
  local kernel = alike.first_of { "m", "n", "k", "lda", "ldb", "ldc", "beta", "types", "a_room", "strips", "fetch" }
  local batch = alike.first_of { "count", "a", "b" }
  local operation, operations, constants = alike.first_of(operation_fields), alike.first_of(), {}
  for fn, entry in pairs(steps.rows) do constants[fn] = alike.first_of(entry.constants) end
  constants.map = alike.first_of { "rows", "cols", "ld", "type" }
  return function(step)
    if step.form == "product" then
      step.kernel, step.batch = kernel(step.kernel), batch(step.batch)
    elseif calls[step.form] then
      step.constants = constants[step.fn or "map"](step.constants)
      local list = step.elementwise
      for i = 1, list and #list or 0 do list[i] = operation(list[i]) end
      step.elementwise = list and operations(list)
    end
  end
end

function Lowering:emit(step)
  step.op, step.unit, step.block, step.region = self.op_index, self.unit_number, self.block_index, self.region
  self.steps[#self.steps + 1] = step
  self.share(step)
  if calls[step.form] then
    self.lines = self.lines + 1
    if self.lines + self.tile_lines > self.budget then self:over_budget() end
  end
end

-- Refuses a model over its budget. The number of its steps is estimated from the ops lowered so far, as layers are
-- alike.
function Lowering:over_budget()
  local done, all = 0, 0
  for i, op in ipairs(self.entry.ops) do
    all = all + 1 + op.flops
    if i < (self.op_index or 1) then done = all end
  end
  budget.hold(self.state, self.tile_lines + math.max(self.lines, done > 0 and math.floor(self.lines * all / done) or 0))
end

--- Begins a unit: steps that stay together, in order, on one worker. No unit reads a buffer that another of its
--- fusion writes.
function Lowering:unit() self.unit_number = self.unit_number + 1 end

--- Declares a scratch buffer of a type, f32 by default, with rows `ld` elements apart, that lives within one unit.
--- Each worker gets its own.
function Lowering:scratch(name, rows, ld, type)
  local tile = buffer_of(type or "f32", rows, ld, { class = "arena", private = "unit" })
  local known = self.tiles[name]
  assert(not known or known.pitch == tile.pitch, name)
  if not known or known.bytes < tile.bytes then self.tiles[name] = tile end
end

--- Returns an operand in a buffer of the arena, `elements` after its first.
function Lowering.in_arena(_, buffer, elements, type)
  return { buffer = buffer, class = "arena", offset = types.bytes(elements, type) }
end

function Lowering:note(text) self:emit { form = "note", text = text } end

--- Returns the place of element (row, column) of a tensor. row counts from the micro-batch's first row; inside a loop
--- over b, from the sequence's first.
function Lowering:at(tensor, row, column, origin)
  if tensor.kind == "weight" or tensor.kind == "constant" then
    return { buffer = tensor.name, class = "weight",
      offset = types.bytes(row * tensor.shape[#tensor.shape] + column, self.layouts[tensor.name].type) }
  end
  local storage = self.storage[tensor.name]
  local ld = storage.leading_dimension
  if storage.form == "transposed" then -- its product's tile, before it is transposed
    return self:in_arena(tensor.name .. "@tile", (row - origin.block_first) * ld + column - origin.column,
      storage.type)
  end
  if storage.form == "unit" then
    return self:in_arena(tensor.name .. "@unit", (row - origin.unit_first) * ld + column - origin.column,
      storage.type)
  end
  if in_pairs[storage.form] then -- in a trace, rows of a unit
    return self:in_arena(tensor.name .. "@rounded", (row - origin.unit_first) * ld + column - origin.column,
      storage.type)
  end
  if storage.form == "by_head" then
    return self:at(storage.of, column // ld * storage.rows_per_sequence + row, column % ld, origin)
  end
  local operand = { buffer = tensor.name, offset = types.bytes(row * ld + column, storage.type),
    class = external_class[tensor.kind] or "arena" }
  if tensor.type == "i32" and tensor.limit then operand.least, operand.most = tensor.minimum, tensor.limit - 1 end
  if storage.form == "tile" then
    operand.offset = operand.offset - types.bytes(origin.block_first * ld, storage.type)
    return operand
  end
  self:symbols(operand, storage, types.bytes(storage.rows_per_sequence * ld, storage.type), origin)
  return operand
end

function Lowering:symbols(operand, storage, per_sequence, origin)
  operand.terms = {}
  if storage.unbatched then return end
  if origin.loop then operand.terms.b = per_sequence end
  if self.segment.repeats > 1 and (storage.whole_batch or self.whole) then operand.terms.s = per_sequence end
end

function Lowering:ld(tensor)
  return self.storage[tensor.name].leading_dimension
end

-- Row operations that convert to floats, by type; a trace has only floats.
local words_of_trace = { bf16 = "widen_bf16", i8 = "widen_i8" }

-- True if a trace keeps its own copy of a tensor with this storage.
local function is_traced(storage) return traced[storage.form] or words_of_trace[storage.type] ~= nil end

-- Returns the trace's own copy of a tensor that is not stored whole, with packed rows.
function Lowering:trace_at(tensor, row, column, origin)
  local storage = self.storage[tensor.name]
  local width = storage.width
  local type = words_of_trace[storage.type] and "f32" or storage.type
  local operand = self:in_arena(tensor.name .. "@trace", row * width + column, type)
  self:symbols(operand, storage, types.bytes(storage.rows_per_sequence * width, type), origin)
  return operand
end

--- In a trace, copies rows x cols of a tile to the place that the check reads. The tensor is one that is not stored
--- whole; row, column: the tile's place in it.
function Lowering:trace_copy(tensor, tile, ld, row, column, rows, cols, origin)
  if self.variant ~= "trace" then return end
  local storage = self.storage[tensor.name]
  self:row(words_of_trace[storage.type] or "copy", { rows = rows, cols = cols, ldx = ld, ldy = storage.width },
    { y = self:trace_at(tensor, row, column, origin), x = tile })
end

--- Emits a row operation of steps.rows.
function Lowering:row(fn, constants, arguments)
  self:emit { form = "row", fn = fn, constants = constants, arguments = arguments }
end

Lowering.product, Lowering.tile = products.product, products.tile
Lowering.transposed_at, Lowering.paired_at = keys.transposed_at, keys.paired_at
Lowering.transpose_tile, Lowering.pair_tile = keys.transpose_tile, keys.pair_tile

-- Returns the elementwise operations of a fusion, in order: bias for the linear; activate and add for ops of the
-- epilogue.
local function elementwise_of(fusion)
  local list = {}
  local function add(op, kind, tensor)
    if tensor then list[#list + 1] = { op = op, kind = kind, tensor = tensor } end
  end
  if fusion.panels then add(fusion.leading, "bias", fusion.leading.operands.bias) end
  for _, op in ipairs(fusion.epilogue) do
    if op.op == "dequantise" then
      add(op, "scale_row", op.operands.row_scale)
      add(op, "scale_column", op.operands.scale)
      add(op, "bias", op.operands.bias)
    else
      list[#list + 1] = { op = op, kind = op.op, fn = op.attributes["function"], tensor = op.operands.b }
    end
  end
  return list
end

-- Operations whose operand is a number for each column.
local by_column = words.set { "bias", "scale_column" }

-- Returns operand b of an addition at (row, column): rows of its own, or a table that repeats every sequence.
function Lowering:addend(tensor, row, column, origin)
  if tensor.kind == "weight" or tensor.kind == "constant" then
    if #tensor.shape == 1 then return self:at(tensor, 0, column, origin), 0 end
    return self:at(tensor, row % tensor.shape[1], column, origin), tensor.shape[#tensor.shape]
  end
  return self:at(tensor, row, column, origin), self:ld(tensor)
end

-- Returns row ranges of a block in which every addend is contiguous; a table of positions begins again with each
-- sequence.
local function row_ranges(operations, first, count)
  local period
  for _, operation in ipairs(operations) do
    if operation.kind == "add" and (operation.tensor.kind == "weight" or operation.tensor.kind == "constant")
      and #operation.tensor.shape > 1 then
      period = operation.tensor.shape[1]
    end
  end
  if not period then return { { first = first, count = count } } end
  local ranges, row = {}, first
  while row < first + count do
    local stop = math.min(first + count, (row // period + 1) * period)
    ranges[#ranges + 1] = { first = row, count = stop - row }
    row = stop
  end
  return ranges
end

function Lowering:map(operations, tile_tensor, origin, first, count, column, cols, load)
  if #operations == 0 then return end
  if #operations > 1 and operations[#operations].kind == "round" and cols > MOST_ROUNDED then
    for at = 0, cols - 1, MOST_ROUNDED do
      self:map(operations, tile_tensor, origin, first, count, column + at, math.min(MOST_ROUNDED, cols - at), load)
    end
    return
  end
  for _, range in ipairs(row_ranges(operations, first, count)) do
    local arguments, number = { y = self:at(tile_tensor, range.first, column, origin) }, 1
    local type = self.storage[tile_tensor.name].type
    local constants = { rows = range.count, cols = cols, ld = self:ld(tile_tensor) }
    constants.type = type ~= "f32" and type or nil
    local list = {}
    if load then
      arguments.x, number = self:at(load, range.first, column, origin), 2
      list[1] = { kind = self.storage[load.name].type == "i32" and "load_integers" or "load", argument = "x",
        ld = self:ld(load) }
    end
    for _, operation in ipairs(operations) do
      local entry = { kind = operation.kind == "round" and not constants.type and "round_floats" or operation.kind,
        fn = operation.fn }
      if operation.tensor then
        local name = operation.kind == "bias" and "bias" or "r" .. (number > 1 and number or "")
        local operand, ld
        if by_column[operation.kind] then
          operand = self:at(operation.tensor, 0, column, origin)
        elseif operation.kind == "scale_row" then
          operand, ld = self:at(operation.tensor, range.first, 0, origin), self:ld(operation.tensor)
        else
          operand, ld = self:addend(operation.tensor, range.first, column, origin)
        end
        arguments[name], number = operand, number + 1
        entry.argument, entry.ld = name, ld
      end
      list[#list + 1] = entry
    end
    self:emit { form = "map", elementwise = list, constants = constants, arguments = arguments }
  end
end

-- Rounds a tile of x into the result of an op.
function Lowering:round(op, x, origin, first, count, column, cols)
  self:map({ ROUND }, op.result, origin, first, count, column, cols, x)
  if is_traced(self.storage[op.result.name]) then
    self:trace_copy(op.result, self:at(op.result, first, column, origin), self:ld(op.result), first, column, count,
      cols, origin)
  end
end

-- Emits the operations of a fusion on a tile, which is loaded first if `load` is given. A result that only its
-- rounding op reads is rounded in the same map.
function Lowering:pass(fusion, operations, origin, first, count, column, cols, load)
  local round, x = fusion.round, fusion.result
  if round and in_pairs[self.storage[round.result.name].form] then
    return self:map(operations, x, origin, first, count, column, cols, load)
  end
  if round and self.storage[x.name].form == "unit" then
    operations[#operations + 1] = ROUND
    return self:map(operations, round.result, origin, first, count, column, cols, load or x)
  end
  self:map(operations, x, origin, first, count, column, cols, load)
  if round then self:round(round, x, origin, first, count, column, cols) end
  if fusion.quantise then self:quantise(fusion, x, origin, { first = first, count = count }) end
end

-- Emits a fusion's elementwise operations on a tile of its result. A trace stops after each op and copies its result.
-- Sums of integers are in a tile of their own.
function Lowering:epilogue(fusion, origin, first, count, column, cols)
  local operations, sums = elementwise_of(fusion), fusion.sums
  local tile = function(tensor) return self:at(tensor, first, column, origin), self:ld(tensor) end
  if self.variant ~= "trace" then return self:pass(fusion, operations, origin, first, count, column, cols, sums) end
  local ops_in_order = { fusion.leading, table.unpack(fusion.epilogue) }
  for _, op in ipairs(ops_in_order) do
    local own = {}
    for _, operation in ipairs(operations) do if operation.op == op then own[#own + 1] = operation end end
    self:map(own, fusion.result, origin, first, count, column, cols, sums and op == ops_in_order[2] and sums or nil)
    if is_traced(self.storage[op.result.name]) then
      local at, ld = tile(op.result == sums and sums or fusion.result)
      self:trace_copy(op.result, at, ld, first, column, count, cols, origin)
    end
  end
  if fusion.round then self:round(fusion.round, fusion.result, origin, first, count, column, cols) end
  if fusion.quantise then self:quantise(fusion, fusion.result, origin, { first = first, count = count }) end
end

-- Functions that lower a fusion, by its leading operation.
local leading = {}

--- Returns the place of output `row` of a packed weight [out][in]: its panel's leading dimension, the operand, and
--- the number of outputs from there to the panel's end.
function Lowering:panel_at(weight, row)
  local column, at, layout = 0, 0, self.layouts[weight.name]
  for _, width in ipairs(layout.widths) do
    local ld = types.whole_lines(width, "f32")
    if row < column + width then
      return ld, { buffer = weight.name, class = "weight", offset = at + types.bytes(row - column, layout.type) },
        column + width - row
    end
    column, at = column + width, at + types.panel_bytes(weight.shape[2], ld, layout.type)
  end
  error(("row %d is not one of %s"):format(row, weight.name))
end

-- Lowers Y[n][m] = X[n][k] Wᵀ, a panel of W at a time. libxsmm, column-major, calls the panel A (m x k), X B (k x n),
-- Y C.
function leading.linear(self, fusion, origin, block)
  local op = fusion.leading
  local x, weight = op.operands.x, op.operands.weight
  local k = weight.shape[2]
  local column, panel_at = 0, 0
  local result, sums = fusion.result, fusion.sums or fusion.result
  for i, width in ipairs(fusion.panels.widths) do
    self:unit()
    local lda = types.whole_lines(width, "f32")
    local shape = { m = fusion.outputs[i], n = block.count, k = k, lda = lda, ldb = self:ld(x),
      ldc = self:ld(sums), beta = 0, types = fusion.types }
    origin.column = column
    self:tile(shape, fusion,
      { buffer = weight.name, class = "weight", offset = panel_at },
      self:at(x, block.first, 0, origin), self:at(sums, block.first, column, origin), width)
    self:epilogue(fusion, origin, block.first, block.count, column, width)
    local storage = self.storage[(fusion.round or fusion).result.name]
    if storage.form == "transposed" or storage.form == "key_pairs" then
      self:transpose_tile(result, storage, origin, block, column, width)
    elseif storage.form == "value_pairs" then
      self:pair_tile(result, storage, origin, block, column, width)
    end
    column, panel_at = column + width, panel_at + types.panel_bytes(k, lda, fusion.panels.type)
  end
end

leading.linear_integers = leading.linear

-- Emits the rows of x as integers, with the scale of each.
function Lowering:quantise(fusion, x, origin, block)
  local scale, op = fusion.quantise.operands.scale, fusion.quantise
  local cols = x.shape[#x.shape]
  local y, of_row = self:at(op.result, block.first, 0, origin), self:at(scale, block.first, 0, origin)
  local factors = op.operands.factors
  self:row(factors and "quantise_smoothed" or "quantise",
    { rows = block.count, cols = cols, ldx = self:ld(x), ldy = self:ld(op.result), lds = self:ld(scale) },
    { y = y, scale = of_row, x = self:at(x, block.first, 0, origin),
      factors = factors and self:at(factors, 0, 0, origin) })
  self:trace_copy(op.result, y, self:ld(op.result), block.first, 0, block.count, cols, origin)
  if is_traced(self.storage[scale.name]) then
    self:trace_copy(scale, of_row, self:ld(scale), block.first, 0, block.count, 1, origin)
  end
end

function leading.row_scale(self, fusion, origin, block)
  self:quantise(fusion, fusion.leading.operands.x, origin, block)
end

-- The row operation that looks up rows of a table, by the table's number type.
local words_of_table = { f32 = "embed", bf16 = "embed_bf16", i8 = "embed_i8" }

function leading.embed(self, fusion, origin, block)
  local ids, tbl, scale = fusion.leading.operands.ids, fusion.leading.operands.table, fusion.leading.operands.scale
  local cols, type = tbl.shape[2], self.layouts[tbl.name].type
  local ldt = type ~= "f32" and types.elements(types.row_bytes(cols, type), type) or nil
  self:row(words_of_table[type], { rows = block.count, cols = cols, ldt = ldt, ldy = self:ld(fusion.result) },
    { y = self:at(fusion.result, block.first, 0, origin), table = self:at(tbl, 0, 0, origin),
      ids = self:at(ids, block.first, 0, origin), scale = scale and self:at(scale, 0, 0, origin) })
  self:epilogue(fusion, origin, block.first, block.count, 0, cols)
end

-- Lowers a norm: rows of x to rows of the result, with the op's gain and bias if it has them.
local function norm(self, fusion, origin, block)
  local op = fusion.leading
  local o, x = op.operands, op.operands.x
  local cols = x.shape[#x.shape]
  self:row(op.op,
    { rows = block.count, cols = cols, ldx = self:ld(x), ldy = self:ld(fusion.result), eps = op.attributes.eps },
    {
      y = self:at(fusion.result, block.first, 0, origin), x = self:at(x, block.first, 0, origin),
      gain = o.gain and self:at(o.gain, 0, 0, origin), bias = o.bias and self:at(o.bias, 0, 0, origin),
    })
  self:epilogue(fusion, origin, block.first, block.count, 0, cols)
end

leading.layer_norm, leading.rms_norm, leading.normalise = norm, norm, norm
leading.softmax_rows, leading.log_softmax = norm, norm

-- Lowers an elementwise op without a product; the first of its operations loads its rows.
local function elementwise(self, fusion, origin, block)
  local op = fusion.leading
  local x = op.operands.x or op.operands.a
  local cols = x.shape[#x.shape]
  local own = { op = op, kind = op.op, fn = op.attributes["function"], tensor = op.operands.b }
  if self.variant ~= "trace" then
    local operations = elementwise_of(fusion)
    table.insert(operations, 1, own)
    return self:pass(fusion, operations, origin, block.first, block.count, 0, cols, x)
  end
  self:map({ own }, fusion.result, origin, block.first, block.count, 0, cols, x)
  self:epilogue(fusion, origin, block.first, block.count, 0, cols)
end

leading.activate, leading.add, leading.multiply, leading.round = elementwise, elementwise, elementwise, elementwise

-- Lowers rotations; the tables of angles begin again with each sequence.
function leading.rotate(self, fusion, origin, block)
  local op = fusion.leading
  local x, cosines = op.operands.x, op.operands.cosines
  local rows, half = table.unpack(cosines.shape)
  local row, stop = block.first, block.first + block.count
  while row < stop do
    local count = math.min(stop, (row // rows + 1) * rows) - row
    self:row("rotate", { rows = count, heads = op.attributes.heads, head_dim = x.shape[3] // op.attributes.heads,
      dimension = 2 * half, pairs = op.attributes.pairs and 1 or 0, ldx = self:ld(x), ldy = self:ld(fusion.result),
      cols = x.shape[3] },
      { y = self:at(fusion.result, row, 0, origin), x = self:at(x, row, 0, origin),
        cosines = self:at(cosines, row % rows, 0, origin), sines = self:at(op.operands.sines, row % rows, 0, origin) })
    row = row + count
  end
  self:epilogue(fusion, origin, block.first, block.count, 0, x.shape[3])
end

function leading.copy(self, fusion, origin, block)
  local x = fusion.leading.operands.x
  self:row("copy",
    { rows = block.count, cols = x.shape[#x.shape], ldx = self:ld(x), ldy = self:ld(fusion.result) },
    { y = self:at(fusion.result, block.first, 0, origin), x = self:at(x, block.first, 0, origin) })
end

function leading.argmax(self, fusion, origin, block)
  local x = fusion.leading.operands.x
  self:row("argmax", { rows = block.count, cols = x.shape[#x.shape], ldx = self:ld(x) },
    { y = self:at(fusion.result, block.first, 0, origin), x = self:at(x, block.first, 0, origin) })
end

local function topk(self, fusion, origin, block)
  local op = fusion.leading
  local x = op.operands.x
  self:row(op.op, { rows = block.count, cols = x.shape[#x.shape], k = op.attributes.k, ldx = self:ld(x),
    ldy = self:ld(fusion.result) },
    { y = self:at(fusion.result, block.first, 0, origin), x = self:at(x, block.first, 0, origin) })
end

leading.topk_values, leading.topk_indices = topk, topk

function Lowering:rows_region(region)
  for i, block in ipairs(region.blocks) do
    local origin = rows_origin(block)
    self.block_index = i
    for _, fusion in ipairs(region.fusions) do
      self.op_index = self.index_of[fusion.leading]
      self:note(equation(fusion, block, region.rows))
      for _, rows in ipairs(fusion.panels and { block } or block.row_blocks) do
        self:unit()
        origin.unit_first, origin.column = rows.first, 0
        leading[fusion.leading.op](self, fusion, origin, rows)
      end
    end
  end
  self.block_index = nil
end

-- Emits a loop over the sequences of a micro-batch if there is more than one.
function Lowering:each_sequence(body)
  local micro_batch = self.segment.micro_batch
  if micro_batch == 1 then return body({ block_first = 0, column = 0 }) end
  self:emit { form = "begin", symbol = "b", count = micro_batch }
  body({ block_first = 0, column = 0, loop = true })
  self:emit { form = "finish", symbol = "b" }
end

Lowering.attention_region = attention.lower

--- Returns the run-time integer lengths[sequence] + plus.
function Lowering:value(tensor, plus, origin)
  local operand = self:at(tensor, 0, 0, origin)
  operand.is_value, operand.plus = true, plus
  operand.least, operand.most = operand.least + plus, operand.most + plus
  return operand
end

--- Returns an integer operand whose value is known.
function Lowering.integer(_, value) return { value = value, least = value, most = value } end

function Lowering:sequence_region(region)
  local op = region.op
  if self.storage[op.result.name].form == "by_head" and self.variant ~= "trace" then return end
  self.op_index = self.index_of[op]
  self:note(sequence.describe(op))
  sequence.lower(self, op)
end

local function sequences_of(micro_batch_of, name, batch) return micro_batch_of[name] or batch end

-- Returns the size of the rows of a tensor that one unit works on.
local function of_unit(storage)
  return buffer_of(storage.type, storage.tile_rows, storage.leading_dimension, { class = "arena", private = "unit" })
end

-- Declares every buffer of a program, { type, bytes, pitch, class, private, over }: stored tensors, tiles, and in a
-- trace the copies of tensors that are not stored whole. pitch: bytes from one row to the next.
function Lowering:buffers(state)
  local buffers = {}
  local batch = state.spec.batch
  local micro_batch_of = {}
  for _, segment in ipairs(state.plan.segments) do
    for _, section in ipairs(segment.sections) do
      for _, op in ipairs(section.ops) do micro_batch_of[op.result.name] = segment.micro_batch end
    end
  end
  for name, storage in pairs(self.storage) do
    local tensor = state.graph.tensors[name]
    local whole = self.whole or storage.whole_batch
    local sequences = whole and batch or sequences_of(micro_batch_of, name, batch)
    local rows = (storage.unbatched and 1 or sequences) * storage.rows_per_sequence
    local ld = storage.leading_dimension
    if storage.form == "external" then -- whole, whatever the order of its axes is
      buffers[name] = buffer_of(storage.type, words.elements(tensor.shape) // ld, ld,
        { class = external_class[tensor.kind] })
    elseif storage.form == "full" then
      buffers[name] = buffer_of(storage.type, rows, ld, { class = "arena",
        over = self.variant == "ship" and storage.over or nil })
    elseif storage.form == "tile" then
      buffers[name] = buffer_of(storage.type, storage.tile_rows, ld, { class = "arena", private = "block",
        over = self.variant == "ship" and storage.over or nil })
    end
    if storage.form == "transposed" then
      buffers[name .. "@tile"] = of_unit(storage)
      buffers[storage.buffer] = keys.transposed_buffer(storage, sequences_of(micro_batch_of, name, batch))
    end
    if storage.form == "key_pairs" then
      buffers[storage.buffer] = keys.transposed_buffer(storage, sequences_of(micro_batch_of, name, batch))
    elseif storage.form == "value_pairs" then
      buffers[storage.buffer] = keys.paired_buffer(storage, sequences_of(micro_batch_of, name, batch))
    end
    if in_pairs[storage.form] and self.variant == "trace" then
      buffers[name .. "@rounded"] = of_unit(storage)
    end
    if storage.form == "unit" then
      buffers[name .. "@unit"] = of_unit(storage)
    end
    if self.variant == "trace" and is_traced(storage) then
      local type = words_of_trace[storage.type] and "f32" or storage.type
      buffers[name .. "@trace"] = buffer_of(type, rows, storage.width, { class = "arena", traces = name })
    end
  end
  for _, segment in ipairs(state.plan.segments) do
    for _, section in ipairs(segment.sections) do
      for _, region in ipairs(section.regions) do
        local read = region.keys
        if read and read.separate then buffers[read.buffer] = keys.transposed_buffer(read, segment.micro_batch) end
        local values = region.values
        if values and values.separate then
          buffers[values.buffer] = keys.paired_buffer(values, segment.micro_batch)
        end
      end
    end
  end
  for name, tile in pairs(self.tiles) do buffers[name] = tile end
  return buffers
end

local function lower_as(state, variant, share)
  local entry = state.graph.entry
  local self = setmetatable({ storage = state.plan.storage, layouts = state.plan.layouts, entry = entry,
    variant = variant, whole = variant == "trace", state = state, lines = 0, tile_lines = 0,
    budget = variant == "ship" and state.spec.max_lines or math.huge,
    unit_number = 0, index_of = {}, tiles = {}, share = share }, Lowering)
  for i, op in ipairs(entry.ops) do self.index_of[op] = i end
  local segments = {}
  for _, segment in ipairs(state.plan.segments) do
    self.segment = segment
    local lowered = { name = segment.name, micro_batch = segment.micro_batch, repeats = segment.repeats,
      partition = segment.partition, sections = {} }
    for _, section in ipairs(segment.sections) do
      self.steps = {}
      for _, region in ipairs(section.regions) do
        self.region = region
        self[region.kind .. "_region"](self, region)
      end
      lowered.sections[#lowered.sections + 1] = { name = section.name, steps = self.steps }
    end
    segments[#segments + 1] = lowered
  end
  return { entry = entry, variant = variant, segments = segments, lines = self.lines,
    buffers = self:buffers(state) }
end

function lower.run(state)
  state.programs = {}
  local share = sharing()
  for i, variant in ipairs(lower.variants) do state.programs[i] = lower_as(state, variant, share) end
  state.plan.lines = state.programs[1].lines
end

--- Returns every program's steps as text.
function lower.dump(state)
  local lines = {}
  for _, program in ipairs(state.programs) do
    for _, segment in ipairs(program.segments) do
      for _, section in ipairs(segment.sections) do
        lines[#lines + 1] = ("%s %s: segment %s, section %s"):format(program.entry.name, program.variant, segment.name,
          section.name)
        for _, step in ipairs(section.steps) do lines[#lines + 1] = "  " .. step_text.of(step) end
      end
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return lower
