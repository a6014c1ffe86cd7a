-- steps_integers.lua: declares the row operations of integers, as steps.lua declares others. For an attention in int8
-- they quantise queries, keys and values, pack these in groups of four, and make weights from 0 to 255.
local footprint = require("data.footprint")
local row_entries = require("data.row_entries")
local types = require("data.types")
local words = require("common.words")

local product = footprint.product
local each, of_rows, of_scores, written, read = row_entries.each, row_entries.of_rows, row_entries.of_scores,
  row_entries.written, row_entries.read

-- Declares the quantising of rows with a scale for each head, which rows of other numbers may guard. equation: what
-- follows the usual one.
local function quantise_heads(element, equation, is_guarded)
  return {
    constants = is_guarded and "rows heads width guarded (cols) (guard_cols) ldx ldy lds ldg"
      or "rows heads width (cols) ldx ldy lds",
    operands = { written(types.quantised), "scale w rows x heads / lds", read(),
      is_guarded and "guard r rows x guard_cols / ldg" or nil },
    cost = each(element),
    equation = "y[i] = x[i] / scale[i][head] as integers, scale[i][head] = max |x[i]| / 127 over the head" .. equation,
  }
end

local valid = "valid value"

local rows = {
  quantise_heads = quantise_heads(16, ""),
  quantise_guarded = quantise_heads(20, ", NaN where a number of the head's guard is not finite", true),
  centre = of_rows(8, "y[i] = x[i] - the mean of x[i] over i < valid", { operands = { valid },
    body = "attn2c_centre(y, x, ${rows}, valid, ${cols}, ${ldx}, ${ldy})" }),
  column_scale = { constants = "cols ldx", operands = { "scale w cols", "x r valid x cols / ldx", valid },
    cost = product("8 valid cols"), body = "attn2c_column_scale(scale, x, valid, ${cols}, ${ldx})",
    equation = "scale[j] = max |x[i][j]| / 127 over i < valid" },
  quantise_columns = of_rows(8, "y[i][j] = x[i][j] / scale[j] as integers, 0 for i >= valid", {
    operands = { "scale r cols", valid },
    body = "attn2c_quantise_columns(y, x, scale, ${rows}, valid, ${cols}, ${ldx}, ${ldy})",
  }, nil, "s8"),
  quads_of_keys = { constants = "rows cols ldx lds ldy lanes",
    operands = { { "y", "w", function(c)
      return { first = 0, { 3 + (c.cols + 3) // 4, 4 * c.ldy }, { 4 * words.round_up(c.rows, c.lanes), 1 } }
    end, type = types.quantised }, read(types.quantised),
      "scale r rows x 1 / lds" }, cost = each(8),
    equation = "y[j / 4][i][j % 4] = x[i][j], after the scales and the first values of sums" },
  quads_of_values = { constants = "rows cols ldx ldy",
    operands = { { "y", "w", function(c)
      return { first = 0, { (c.rows + 3) // 4, 4 * c.ldy }, { 4 * c.cols, 1 } }
    end, type = "s8" }, read("s8") }, cost = each(8), equation = "y[i / 4][j][i % 4] = x[i][j]" },
  exponentials = of_scores(45, "s[i][j] = 255 exp(${scale} (s[i][j] - max))",
    { constants = "scale", whole_vectors = true }),
  exponentials_rounded = { constants = "rows cols ld ldy scale", whole_vectors = true,
    operands = { written("u8"), "factors w rows", "s rw rows x cols / ld" }, cost = each(45),
    equation = "y[i][j] = 255 exp(${scale} (s[i][j] - max)) as integers, factors[i] = 1 / sum over j" },
  round_to_bytes = of_rows(6, "y[i][j] = x[i][j] as integers", { whole_vectors = true }, nil, "u8"),
  weight_scale = { constants = "rows cols ldw ldx", whole_vectors = true,
    operands = { "factors w rows", "w r rows x cols / ldw: u8", read() }, cost = each(6),
    equation = "factors[i] = 1 / sum over j of w[i][j], NaN if x[i] has one" },
}

-- In a trace, the numbers of an attention in int8 as floats.
for _, type in ipairs { "u8", "s8" } do rows["widen_" .. type] = of_rows(6, "y = x, as float", nil, type) end

-- Numbers in scale blocks: rows are quantised to int8, and widened in a trace.

-- Returns the footprint of rows that are stored as blocks.
local function blocks(ld, type)
  return function(c) return { first = 0, { c.rows, c[ld] }, { types.whole(c.cols, type), 1 } } end
end

-- Declares the operations of a type of rows.
local function declare(type, name, equation)
  rows[name] = {
    constants = "rows cols ldx ldy",
    operands = { { "y", "w", blocks("ldy", type), type = type }, read() },
    cost = each(20), equation = equation,
  }
  rows["widen_" .. type] = {
    constants = "rows cols ldx ldy",
    operands = { written(), { "x", "r", blocks("ldx", type), type = type } },
    cost = each(6), equation = "y = x, as float",
  }
end

declare(types.coarse, "quantise_blocks", "y = x as bytes in scale blocks")
declare(types.fine, "quantise_blocks_finely", "y = x as integers of 15 bits in scale blocks")

return rows
