-- keys.lua: places an attention's keys and values as it reads them: keys transposed, values in rows or pairs.
-- Transposed keys are in panels of key_block, in bf16 in groups of two columns; values in bf16 are in groups of two
-- rows. The file has the place of an element, the steps that move a product's tile there while it is in the cache,
-- and the buffers.
local types = require("data.types")
local words = require("common.words")

local keys = {}

--- Returns a buffer of rows of one type, `ld` elements apart, with further fields.
function keys.buffer_of(type, rows, ld, more)
  more.type, more.bytes, more.pitch = type, types.bytes(rows * ld, type), types.bytes(ld, type)
  return more
end

-- Returns the number of groups of columns of transposed keys.
local function column_groups(of)
  local group = types.group(of.type)
  return (of.width + group - 1) // group
end

-- Returns the elements of one sequence's transposed keys.
local function transposed_elements(of)
  return words.round_up(of.rows_per_sequence, of.key_block) * column_groups(of) * types.group(of.type)
end

-- Returns the elements of one sequence's values in pairs.
local function paired_elements(values) return (values.rows_per_sequence + 1) // 2 * 2 * values.ld end

--- Returns the place of key `key` of a sequence in transposed keys: [panels of keys][groups of
--- columns][key_block][group]; a method of the lowering.
function keys.transposed_at(self, of, number, key, column, origin)
  local block, group = of.key_block, types.group(of.type)
  local groups = (key // block * column_groups(of) + column // group) * block + key % block
  local operand = self:in_arena(of.buffer, number * transposed_elements(of) + groups * group + column % group, of.type)
  if origin.loop then operand.terms = { b = types.bytes(transposed_elements(of), of.type) } end
  return operand
end

--- Returns the place of key `key` of a sequence in values in pairs, [pairs of keys][ld][2]; a method of the lowering.
function keys.paired_at(self, values, number, key, column, origin)
  local operand = self:in_arena(values.buffer,
    number * paired_elements(values) + (key // 2 * values.ld + column) * 2 + key % 2, values.type)
  if origin.loop then operand.terms = { b = types.bytes(paired_elements(values), values.type) } end
  return operand
end

--- Emits a tile of values as pairs while it is in the cache, a step for the rows of each sequence; a method of the
--- lowering.
function keys.pair_tile(self, x, values, origin, block, column, width)
  local row, stop = block.first, block.first + block.count
  while row < stop do
    local number, key = row // values.rows_per_sequence, row % values.rows_per_sequence
    local count = math.min(stop - row, values.rows_per_sequence - key)
    self:row("pairs_of_rows", { rows = count, cols = width, ldx = self:ld(x), ldy = values.ld },
      { y = self:paired_at(values, number, key, column, origin), x = self:at(x, row, column, origin) })
    row = row + count
  end
end

--- Transposes a tile of keys into their panels while it is in the cache; a method of the lowering. There is a step
--- for the rows of each sequence and panel. storage: of the keys.
function keys.transpose_tile(self, tensor, storage, origin, block, column, width)
  local row, stop = block.first, block.first + block.count
  while row < stop do
    local number, key = row // storage.rows_per_sequence, row % storage.rows_per_sequence
    local count = math.min(stop - row, storage.rows_per_sequence - key, storage.key_block - key % storage.key_block)
    self:row(storage.form == "key_pairs" and "pairs_of_columns" or "transpose",
      { rows = count, cols = width, ldx = self:ld(tensor), ldy = storage.key_block },
      { y = self:transposed_at(storage, number, key, column, origin), x = self:at(tensor, row, column, origin) })
    row = row + count
  end
end

--- Returns the buffer of the transposed keys of `sequences` sequences.
function keys.transposed_buffer(of, sequences)
  local ld = of.key_block * types.group(of.type)
  return keys.buffer_of(of.type, sequences * transposed_elements(of) // ld, ld, { class = "arena" })
end

--- Returns the buffer of the values of `sequences` sequences in pairs.
function keys.paired_buffer(values, sequences)
  local ld = 2 * values.ld
  return keys.buffer_of(values.type, sequences * paired_elements(values) // ld, ld, { class = "arena" })
end

return keys
