-- keys: how an attention's keys and values lie where it reads them: keys transposed, in panels of key_block, in bf16
-- in groups of two columns; values of bf16 in groups of two rows. Where an element is, the steps that bring a product's
-- hot tile there, and the buffers.
local types = require("data.types")
local words = require("common.words")

local keys = {}

--- A buffer of rows of one type, `ld` elements apart, with what else there is to say of it.
function keys.buffer_of(type, rows, ld, more)
  more.type, more.bytes, more.pitch = type, types.bytes(rows * ld, type), types.bytes(ld, type)
  return more
end

-- Groups of columns of transposed keys, one behind the other.
local function column_groups(of)
  local group = types.group(of.type)
  return (of.width + group - 1) // group
end

-- Elements of one sequence's transposed keys.
local function transposed_elements(of)
  return words.round_up(of.rows_per_sequence, of.key_block) * column_groups(of) * types.group(of.type)
end

-- Elements of one sequence's values in pairs.
local function paired_elements(values) return (values.rows_per_sequence + 1) // 2 * 2 * values.ld end

--- A method of the lowering: where key `key` of a sequence lies among transposed keys: [panels of keys][groups of
--- columns][key_block][group].
function keys.transposed_at(self, of, number, key, column, origin)
  local block, group = of.key_block, types.group(of.type)
  local groups = (key // block * column_groups(of) + column // group) * block + key % block
  local operand = self:in_arena(of.buffer, number * transposed_elements(of) + groups * group + column % group, of.type)
  if origin.loop then operand.terms = { b = types.bytes(transposed_elements(of), of.type) } end
  return operand
end

--- A method of the lowering: where key `key` of a sequence lies among values in pairs: [pairs of keys][ld][2].
function keys.paired_at(self, values, number, key, column, origin)
  local operand = self:in_arena(values.buffer,
    number * paired_elements(values) + (key // 2 * values.ld + column) * 2 + key % 2, values.type)
  if origin.loop then operand.terms = { b = types.bytes(paired_elements(values), values.type) } end
  return operand
end

--- A method of the lowering: a hot tile of values as pairs: a step for the rows of each sequence.
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

--- A method of the lowering: transposes a hot tile of keys into their panels: a step for the rows of each sequence and
--- panel. storage: of the keys.
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

--- The transposed keys of so many sequences.
function keys.transposed_buffer(of, sequences)
  local ld = of.key_block * types.group(of.type)
  return keys.buffer_of(of.type, sequences * transposed_elements(of) // ld, ld, { class = "arena" })
end

--- The values of so many sequences in pairs.
function keys.paired_buffer(values, sequences)
  local ld = 2 * values.ld
  return keys.buffer_of(values.type, sequences * paired_elements(values) // ld, ld, { class = "arena" })
end

return keys
