-- maps.lua: lowers elementwise operations on a tile of a fusion's result.
-- These are methods of the lowering: the epilogue of a product or of rows, rounding and quantising included.
local forms = require("data.storage")
local types = require("data.types")
local words = require("common.words")

local maps = {}

local ROUND = { kind = "round" }

-- Maximum columns of a map that rounds; its rows are on the stack before they are rounded.
local MOST_ROUNDED = 1024

function maps.operation_of(op)
  local a = op.attributes
  local kind = a.only_above and "at_most" or a.plus_one and "multiply_more" or op.op
  return { op = op, kind = kind, fn = a["function"], factor = a.cap or a.limit or a.factor, least = a.least,
    shift = a.shift, column = a.column, tensor = op.operands.b }
end

--- Returns the elementwise operations of a fusion, in order: bias of the linear; activate and add of the epilogue.
function maps.operations_of(fusion)
  local list = {}
  local function add(op, kind, tensor, of_row)
    if tensor then list[#list + 1] = { op = op, kind = kind, tensor = tensor, of_row = of_row } end
  end
  if fusion.panels then add(fusion.leading, "bias", fusion.leading.operands.bias) end
  for _, op in ipairs(fusion.epilogue) do
    if op.op == "dequantise" or op.op == "dequantise_experts" then
      add(op, "scale_row", op.operands.row_scale)
      add(op, "scale_column", op.operands.scale)
      add(op, "bias", op.operands.bias)
    elseif op.op == "scale_columns" then
      add(op, "gain", op.operands.factors)
      add(op, "bias", op.operands.factors, 1)
    else
      list[#list + 1] = maps.operation_of(op)
    end
  end
  return list
end

-- Operations whose operand is a number for each column, and for each row.
local by_column, by_row = words.set { "bias", "scale_column", "gain" }, words.set { "scale_row", "gate_rows" }

-- Returns operand b of an addition at (row, column): rows of its own, or a table that repeats every sequence.
function maps:addend(tensor, row, column, origin)
  if tensor.kind == "weight" or tensor.kind == "constant" then
    if #tensor.shape == 1 then return self:at(tensor, 0, column, origin), 0 end
    return self:at_position(tensor, row % tensor.shape[1], column, origin), tensor.shape[#tensor.shape]
  end
  return self:at(tensor, row, column, origin), self:ld(tensor)
end

-- Returns the rows of a table of positions among the addends, which begins again with each sequence; or nil.
local function period_of(operations)
  local period
  for _, operation in ipairs(operations) do
    if operation.kind == "add" and (operation.tensor.kind == "weight" or operation.tensor.kind == "constant")
      and #operation.tensor.shape > 1 then
      period = operation.tensor.shape[1]
    end
  end
  return period
end

--- Calls body(first, count, origin) for ranges of the rows [first, first + count) that are of one sequence each; once
--- if period, the rows of a sequence's table of positions, is nil. Where lengths are open it is a loop.
function maps:each_piece(period, origin, first, count, body)
  if not period then return body(first, count, origin) end
  if origin.over then
    local within = { "skip", table.unpack(origin.within or {}) }
    local of_piece = { block_first = origin.block_first, unit_first = origin.unit_first, column = origin.column,
      over = { "row", "skip" }, answer = origin.answer and { "answer", "skip" }, within = within,
      position = "position", pooled = { "sequence" } }
    return self:loop("pieces", { count = 1 }, function()
      self:with_open(setmetatable({ rows = "piece" }, { __index = self.open }), function()
        body(first, count, of_piece)
      end)
    end)
  end
  local row = first
  while row < first + count do
    local stop = math.min(first + count, (row // period + 1) * period)
    body(row, stop - row, origin)
    row = stop
  end
end

--- Returns the place of element (row, column) of a table of positions.
function maps:at_position(table_, row, column, origin)
  local operand = self:at(table_, row, column, origin)
  if origin.position then
    operand.terms = { [origin.position] = types.bytes(table_.shape[#table_.shape], self.layouts[table_.name].type) }
  end
  return operand
end

-- Returns a map's elementwise operation, and its operand for the tile from (row, column) on, or nil. name: the
-- operand's; rounds_to: the type that a rounding operation stores, nil: floats.
local function operation_at(self, operation, name, row, column, origin, rounds_to)
  local tensor, operand, ld = operation.tensor, nil, nil
  if tensor and by_column[operation.kind] then
    operand = self:at(tensor, operation.of_row or 0, column, origin)
  elseif tensor and by_row[operation.kind] then
    operand, ld = self:at(tensor, row, operation.column or 0, origin), self:ld(tensor)
  elseif tensor then
    operand, ld = self:addend(tensor, row, column, origin)
  end
  return { kind = operation.kind == "round" and not rounds_to and "round_floats" or operation.kind, fn = operation.fn,
    factor = operation.factor, least = operation.least, shift = operation.shift, argument = tensor and name or nil,
    ld = ld }, operand
end

-- Emits a map on the rows of an area that are of one sequence.
local function map_piece(self, operations, tensor, area, load)
  local row, column, origin = area.row, area.column, area.origin
  local type = self.storage[tensor.name].type
  local constants = { rows = area.rows, cols = area.cols, ld = self:ld(tensor), type = type ~= "f32" and type or nil }
  local arguments, number, list = { y = self:at(tensor, row, column, origin) }, 1, {}
  if load then
    arguments.x, number = self:at(load, row, column, origin), 2
    list[1] = { kind = self.storage[load.name].type == "i32" and "load_integers" or "load", argument = "x",
      ld = self:ld(load) }
  end
  for _, operation in ipairs(operations) do
    local name = operation.kind == "bias" and not arguments.bias and "bias" or "r" .. (number > 1 and number or "")
    local entry, operand = operation_at(self, operation, name, row, column, origin, constants.type)
    if operand then arguments[name], number = operand, number + 1 end
    list[#list + 1] = entry
  end
  self:emit { form = "map", elementwise = list, constants = constants, arguments = arguments }
end

local function with(area, more) return setmetatable(more, { __index = area }) end

-- Emits elementwise operations on an area of a tensor, which is loaded from the tensor `load` first, if that is given.
function maps:map(operations, tensor, area, load)
  if #operations == 0 then return end
  if #operations > 1 and operations[#operations].kind == "round" and area.cols > MOST_ROUNDED then
    for at = 0, area.cols - 1, MOST_ROUNDED do
      self:map(operations, tensor,
        with(area, { column = area.column + at, cols = math.min(MOST_ROUNDED, area.cols - at) }), load)
    end
    return
  end
  self:each_piece(period_of(operations), area.origin, area.row, area.rows, function(row, rows, of_piece)
    map_piece(self, operations, tensor, with(area, { row = row, rows = rows, origin = of_piece }), load)
  end)
end

-- Rounds an area of x into the result of an op.
function maps:round(op, x, area)
  self:map({ ROUND }, op.result, area, x)
  self:trace_copy(op.result, self:at(op.result, area.row, area.column, area.origin), self:ld(op.result), area)
end

-- Emits the ops that end a fusion's epilogue: they store its result in another type.
local function ends(self, fusion, area)
  if fusion.round then self:round(fusion.round, fusion.result, area) end
  if fusion.quantise then self:quantise(fusion, fusion.result, area) end
end

-- Emits the operations of a fusion on an area of its result, which is loaded first if `load` is given. A result that
-- only its rounding op reads is rounded in the same map.
function maps:pass(fusion, operations, area, load)
  local round, x = fusion.round, fusion.result
  if round and forms.packed(self.storage[round.result.name]) then return self:map(operations, x, area, load) end
  if round and forms.is_of_unit(self.storage[x.name]) then
    operations[#operations + 1] = ROUND
    return self:map(operations, round.result, area, load or x)
  end
  self:map(operations, x, area, load)
  ends(self, fusion, area)
end

-- Emits a fusion's elementwise operations on an area of its result. A trace stops after each op and copies its result.
-- Sums of integers are in a tile of their own.
function maps:epilogue(fusion, area)
  local operations, sums = maps.operations_of(fusion), fusion.sums
  if self.variant ~= "trace" then return self:pass(fusion, operations, area, sums) end
  local ops_in_order = { fusion.leading, table.unpack(fusion.epilogue) }
  for _, op in ipairs(ops_in_order) do
    local own = words.filter(operations, function(operation) return operation.op == op end)
    self:map(own, fusion.result, area, sums and op == ops_in_order[2] and sums or nil)
    local tensor = op.result == sums and sums or fusion.result
    self:trace_copy(op.result, self:at(tensor, area.row, area.column, area.origin), self:ld(tensor), area)
  end
  ends(self, fusion, area)
end

-- Emits rows of x as integers, with the scale of each. area: has the rows; all columns are taken.
function maps:quantise(fusion, x, area)
  local scale, op, origin = fusion.quantise.operands.scale, fusion.quantise, area.origin
  local cols = x.shape[#x.shape]
  local y, of_row = self:at(op.result, area.row, 0, origin), self:at(scale, area.row, 0, origin)
  local factors, heads = op.operands.factors, scale.shape[#scale.shape]
  local makes_scale = fusion.leading.op == "row_scale" and fusion.leading or fusion.ends[#fusion.ends - 1]
  local guard = makes_scale.operands.guard
  local constants = { rows = area.rows, cols = cols, ldx = self:ld(x), ldy = self:ld(op.result),
    lds = self:ld(scale) }
  local arguments = { y = y, scale = of_row, x = self:at(x, area.row, 0, origin),
    factors = factors and self:at(factors, 0, 0, origin), guard = guard and self:at(guard, area.row, 0, origin) }
  local is_odd = op.attributes.bits == 4
  if guard or heads > 1 or is_odd then
    constants.heads, constants.width = heads, cols // heads
    if guard then
      constants.guard_cols, constants.ldg = guard.shape[#guard.shape], self:ld(guard)
      constants.guarded = constants.guard_cols // heads
    end
    self:row(guard and "quantise_guarded" or is_odd and "quantise_odd" or "quantise_heads", constants, arguments)
  else
    self:row(factors and "quantise_smoothed" or "quantise", constants, arguments)
  end
  self:trace_copy(op.result, y, self:ld(op.result), with(area, { column = 0, cols = cols }))
  self:trace_copy(scale, of_row, self:ld(scale), with(area, { column = 0, cols = heads }))
end

return maps
