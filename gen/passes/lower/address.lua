-- address.lua: turns rows and columns of tensors into operands, and declares scratch buffers.
-- These are methods of the lowering. An operand is { buffer, class, offset, terms }, as lower.lua says.
local keys = require("passes.lower.keys")
local types = require("data.types")
local words = require("common.words")

local address = {}

--- Classes of the caller's buffers, by kind of tensor.
address.external_class = { input = "in", output = "out" }

-- Storage forms of tensors that a trace copies.
local traced = words.set { "fused", "tile", "transposed", "unit", "by_head", "key_pairs", "value_pairs" }

--- Storage forms without rows.
address.in_pairs = words.set { "key_pairs", "value_pairs" }

--- Declares a scratch buffer of a type, f32 by default, with rows `ld` elements apart, that lives within one unit.
--- Each worker gets its own.
function address:scratch(name, rows, ld, type)
  local tile = keys.buffer_of(type or "f32", rows, ld, { class = "arena", private = "unit" })
  local known = self.tiles[name]
  assert(not known or known.pitch == tile.pitch, name)
  if not known or known.bytes < tile.bytes then self.tiles[name] = tile end
end

--- Returns an operand in a buffer of the arena, `elements` after its first.
function address.in_arena(_, buffer, elements, type)
  return { buffer = buffer, class = "arena", offset = types.bytes(elements, type) }
end

--- Returns the place of element (row, column) of a tensor. row counts from the micro-batch's first row; inside a loop
--- over b, from the sequence's first.
function address:at(tensor, row, column, origin)
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
  if address.in_pairs[storage.form] then -- in a trace, rows of a unit
    return self:in_arena(tensor.name .. "@rounded", (row - origin.unit_first) * ld + column - origin.column,
      storage.type)
  end
  if storage.form == "by_head" then
    return self:at(storage.of, column // ld * storage.rows_per_sequence + row, column % ld, origin)
  end
  local operand = { buffer = tensor.name, offset = types.bytes(row * ld + column, storage.type),
    class = address.external_class[tensor.kind] or "arena" }
  if tensor.type == "i32" and tensor.limit then operand.least, operand.most = tensor.minimum, tensor.limit - 1 end
  if storage.form == "tile" then
    operand.offset = operand.offset - types.bytes(origin.block_first * ld, storage.type)
    return operand
  end
  self:symbols(operand, storage, types.bytes(storage.rows_per_sequence * ld, storage.type), origin)
  return operand
end

function address:symbols(operand, storage, per_sequence, origin)
  operand.terms = {}
  if storage.unbatched then return end
  if origin.loop then operand.terms.b = per_sequence end
  if self.segment.repeats > 1 and (storage.whole_batch or self.whole) then operand.terms.s = per_sequence end
end

function address:ld(tensor)
  return self.storage[tensor.name].leading_dimension
end

-- Row operations that convert to floats, by type; a trace has only floats.
local words_of_trace = { bf16 = "widen_bf16", i8 = "widen_i8" }

--- True if a trace keeps its own copy of a tensor with this storage.
function address.is_traced(storage) return traced[storage.form] or words_of_trace[storage.type] ~= nil end

--- Returns the type of a trace's copy.
function address.trace_type(storage) return words_of_trace[storage.type] and "f32" or storage.type end

--- Returns the trace's own copy of a tensor that is not stored whole, with packed rows.
function address:trace_at(tensor, row, column, origin)
  local storage = self.storage[tensor.name]
  local width = storage.width
  local type = address.trace_type(storage)
  local operand = self:in_arena(tensor.name .. "@trace", row * width + column, type)
  self:symbols(operand, storage, types.bytes(storage.rows_per_sequence * width, type), origin)
  return operand
end

--- In a trace, copies rows x cols of a tile to the place that the check reads. The tensor is one that is not stored
--- whole; row, column: the tile's place in it.
function address:trace_copy(tensor, tile, ld, row, column, rows, cols, origin)
  if self.variant ~= "trace" then return end
  local storage = self.storage[tensor.name]
  self:row(words_of_trace[storage.type] or "copy", { rows = rows, cols = cols, ldx = ld, ldy = storage.width },
    { y = self:trace_at(tensor, row, column, origin), x = tile })
end

--- Returns the place of output `row` of a packed weight [out][in]: its panel's leading dimension, and the operand.
function address:panel_at(weight, row)
  local column, at, layout = 0, 0, self.layouts[weight.name]
  for _, width in ipairs(layout.widths) do
    local ld = types.whole_lines(width, "f32")
    if row < column + width then
      return ld, { buffer = weight.name, class = "weight", offset = at + types.bytes(row - column, layout.type) }
    end
    column, at = column + width, at + types.panel_bytes(weight.shape[2], ld, layout.type)
  end
  error(("row %d is not one of %s"):format(row, weight.name))
end

--- Returns the run-time integer lengths[sequence] + plus.
function address:value(tensor, plus, origin)
  local operand = self:at(tensor, 0, 0, origin)
  operand.is_value, operand.plus = true, plus
  operand.least, operand.most = operand.least + plus, operand.most + plus
  return operand
end

--- Returns an integer operand whose value is known.
function address.integer(_, value) return { value = value, least = value, most = value } end

return address
