-- address.lua: turns rows and columns of tensors into operands, and declares scratch buffers.
-- These are methods of the lowering. An operand is { buffer, class, offset, terms }, as lower.lua says. An area is a
-- rectangle of a tensor, { row, rows, column, cols, origin }: its first row and column, its size, the origin of `at`.
local forms = require("data.storage")
local grouping = require("passes.common.grouping")
local operands = require("data.operands")
local types = require("data.types")

local address = {}

--- Returns a buffer of rows of one type, `elements` in all and `pitch` from row to row, with further fields.
function address.buffer_of(type, elements, pitch, more)
  more.type, more.bytes, more.pitch = type, types.bytes(elements, type), types.bytes(pitch, type)
  return more
end

--- Declares a scratch buffer of a type, f32 by default, with rows `ld` elements apart, that lives within one unit.
--- Each worker gets its own.
function address:scratch(name, rows, ld, type)
  local tile = address.buffer_of(type or "f32", rows * ld, ld, { class = "arena", private = "unit" })
  local known = self.tiles[name]
  assert(not known or known.pitch == tile.pitch, name)
  if not known or known.bytes < tile.bytes then self.tiles[name] = tile end
end

--- Declares a scratch buffer that all workers share.
function address:shared_scratch(name, rows, ld, type)
  self.tiles[name] = address.buffer_of(type or "f32", rows * ld, ld, { class = "arena" })
end

--- Returns an operand in a buffer of the arena, `elements` after its first.
function address.in_arena(_, buffer, elements, type)
  return { buffer = buffer, class = "arena", offset = types.bytes(elements, type) }
end

--- True if a tensor of a model of any length has equally many rows for each sequence: one, or one for each head.
function address.has_fixed_rows(tensor, storage)
  return not storage.unbatched and (storage.rows_per_sequence == 1 or grouping.is_of_one_query(tensor))
end

-- Adds a term for each symbol of origin.by_column: the symbol times its number of columns.
local function add_columns(operand, storage, place, origin)
  for symbol, columns in pairs(origin.by_column or {}) do
    operand.terms[symbol] = types.bytes(place.where(storage, 0, columns) - place.where(storage, 0, 0), storage.type)
  end
end

-- Adds the terms of an operand whose first row depends on what a call knows. is_answer: whether it is an output that
-- begins with the first row that is wanted.
local function add_open(operand, storage, place, origin, is_answer)
  operand.terms = {}
  if storage.unbatched then return end
  local symbols = storage.rows_per_sequence == 1 and origin.pooled or origin.over
  if place.private then symbols = origin.within or {} end
  if is_answer and origin.answer then symbols = origin.answer end
  for _, symbol in ipairs(symbols) do operand.terms[symbol] = types.bytes(place.pitch(storage), storage.type) end
  if not place.private then add_columns(operand, storage, place, origin) end
end

--- Returns the place of element (row, column) of a tensor. row counts from the micro-batch's first row; inside a loop
--- over b, from the sequence's first. In loops over open sizes, origin has the symbols that are added to row: over;
--- by_column, symbols with the columns that each adds, times itself, to column;
--- answer, in place of over for an output that begins with the first wanted row; pooled, for a tensor with one row for
--- each sequence; within, in a buffer of the rows of a block; packed, in packed keys and values; columns, the symbol
--- that is added to the column of a trace's copy.
--- Among the steps of experts (self.choices), whose loop is over experts, an operand also has by_choice, the bytes from
--- choice to choice, or by_expert, the bytes from expert to expert, and the number of experts.
function address:at(tensor, row, column, origin)
  if tensor.kind == "weight" or tensor.kind == "constant" then
    local type, experts = self.layouts[tensor.name].type, self.choices and tensor.experts
    return { buffer = tensor.name, class = "weight", experts = experts or nil,
      by_expert = experts and types.bytes(tensor.shape[1] // experts, type) or nil,
      offset = types.bytes(row * tensor.shape[#tensor.shape] + column, type) }
  end
  local storage, first_row, first_column = self.storage[tensor.name], 0, 0
  local place, home = forms.rows(storage), storage.of or tensor
  if place.private == "block" then first_row = origin.block_first end
  if place.private == "unit" then first_row, first_column = origin.unit_first, origin.column end
  local operand = { buffer = home.name .. place.suffix, class = forms.class(home, self.storage[home.name]),
    offset = types.bytes(place.where(storage, row - first_row, column - first_column), storage.type) }
  if self.choices then operand.by_choice = types.bytes(self:ld(tensor), storage.type) end
  if tensor.type == "i32" and tensor.limit then operand.least, operand.most = tensor.minimum, tensor.limit - 1 end
  if origin.over then
    add_open(operand, storage, place, origin, operand.class == "out" and self.storage[home.name].is_answer)
  elseif not place.private then
    self:symbols(operand, storage, types.bytes(place.sequence(storage), storage.type),
      self.whole or storage.whole_batch, origin)
  end
  return operand
end

--- Returns the place of element (row, column) of packed keys or values; row counts as in `at`. A symbol that is added
--- to row, origin.packed, is a multiple of key_block.
function address:packed_at(storage, row, column, origin)
  local place = forms.packed(storage)
  local operand = { buffer = storage.buffer, class = forms.forms[storage.form].class,
    offset = types.bytes(place.where(storage, row, column - (storage.first_column or 0)), storage.type) }
  if origin.over then
    operand.terms = origin.packed and { [origin.packed] = types.bytes(place.each_key(storage), storage.type) } or {}
    if operand.class == "state" then operand.terms.slot = self.state.kept.bytes end
    if storage.window then operand.terms.forgotten = -types.bytes(place.each_key(storage), storage.type) end
    add_columns(operand, storage, place, origin)
    return operand
  end
  self:symbols(operand, storage, types.bytes(place.sequence(storage), storage.type), storage.whole_batch, origin)
  return operand
end

function address.before(_, operand, elements, type) return operands.moved(operand, -types.bytes(elements, type)) end

-- Adds an operand's terms. is_whole: whether the buffer has all sequences of the batch, not a micro-batch's.
function address:symbols(operand, storage, per_sequence, is_whole, origin)
  operand.terms = {}
  if storage.unbatched then return end
  if origin.loop then operand.terms.b = per_sequence end
  if self.segment.repeats > 1 and is_whole then operand.terms.s = per_sequence end
end

--- Returns the elements from a row of a tensor to the next; among the steps of experts, from choice to choice.
function address:ld(tensor)
  local storage = self.storage[tensor.name]
  local is_of_rows = self.choices and (storage.form == "grouped" or storage.form == "groups")
  return is_of_rows and storage.leading_dimension // self.choices or storage.leading_dimension
end

--- True if the rows of a tensor, or a unit's rows, are stored.
function address:is_stored(tensor) return forms.rows(self.storage[tensor.name]) ~= nil end

-- Returns a trace's copy where lengths are open. Sequences follow each other; one with rows for each head has
-- [heads][rows of the sequence], each row as wide as for the longest sequence. One call has all rows of a sequence.
local function open_trace_at(self, tensor, row, column, origin)
  local storage, most = self.storage[tensor.name], self.state.spec.call_rows
  local type = forms.trace_type(storage)
  local pitch, terms = types.bytes(storage.width, type), {}
  local is_fixed = address.has_fixed_rows(tensor, storage)
  for _, symbol in ipairs(is_fixed and origin.pooled or origin.over) do
    terms[symbol] = is_fixed and storage.rows_per_sequence * pitch or pitch
  end
  if not is_fixed and storage.rows_per_sequence > most then
    local head = row // most
    row = row % most
    terms.first = storage.rows_per_sequence // most * pitch
    if head > 0 then terms[self.state.spec.symbols.past.is_open and "fresh" or "keys"] = head * pitch end
  end
  if origin.columns then terms[origin.columns] = types.bytes(1, type) end
  local operand = self:in_arena(forms.trace_name(tensor.name), row * storage.width + column, type)
  operand.terms = terms
  return operand
end

--- Returns the trace's own copy of a tensor that is not stored whole, with packed rows.
function address:trace_at(tensor, row, column, origin)
  if origin.over then return open_trace_at(self, tensor, row, column, origin) end
  local storage = self.storage[tensor.name]
  local type, per_sequence = forms.trace_type(storage), storage.rows_per_sequence * storage.width
  local operand = self:in_arena(forms.trace_name(tensor.name), row * storage.width + column, type)
  self:symbols(operand, storage, types.bytes(per_sequence, type), true, origin)
  return operand
end

--- In a trace, copies a tile to the place that the check reads, if no buffer has the tensor whole. ld: of the tile;
--- area: of the tensor.
function address:trace_copy(tensor, tile, ld, area)
  local storage = self.storage[tensor.name]
  if self.variant ~= "trace" or not forms.is_traced(storage) then return end
  if tensor.groups then return self:trace_parts(tensor, tile, ld, area) end
  self:row(forms.is_widened(storage) and "widen_" .. storage.type or "copy",
    { rows = area.rows, cols = area.cols, ldx = ld, ldy = storage.width },
    { y = self:trace_at(tensor, area.row, area.column, area.origin), x = tile })
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

--- Returns an integer operand that is a symbol of a loop, from `least` (default: 1) to `most`, plus a number.
function address.open_value(_, symbol, most, plus, least)
  return { symbol = symbol, plus = plus or 0, least = (least or 1) + (plus or 0), most = most + (plus or 0) }
end

--- Returns an integer operand whose value is known.
function address.integer(_, value) return { value = value, least = value, most = value } end

return address
