-- steps_integers.lua: declares the row operations of an attention in int8, as steps.lua declares others.
-- They quantise queries, keys and values, pack these in groups of four, and make weights from 0 to 255.
local footprint = require("data.footprint")
local types = require("data.types")
local words = require("common.words")

local matrix, vector = footprint.matrix, footprint.vector

-- Returns the cost function of an operation that costs `element` for each of rows x cols elements.
local function each(element) return function(c) return element * c.rows * c.cols end end

-- Declares the quantising of rows with a scale for each head, guarded by rows of other numbers or not.
local function quantise_heads(is_guarded)
  local entry = {
    constants = { "rows", "heads", "width", "cols", "ldx", "ldy", "lds" },
    operands = { { "y", "w", matrix("rows", "cols", "ldy"), type = types.quantised },
      { "scale", "w", matrix("rows", "heads", "lds") }, { "x", "r", matrix("rows", "cols", "ldx") } },
    cost = each(is_guarded and 20 or 16),
    body = "attn2c_quantise_heads(y, scale, x, ${rows}, ${heads}, ${width}, ${ldx}, ${ldy}, ${lds})",
    equation = "y[i] = x[i] / scale[i][head] as integers, scale[i][head] = max |x[i]| / 127 over the head",
  }
  if is_guarded then
    table.insert(entry.constants, "ldg")
    table.insert(entry.operands, { "guard", "r", matrix("rows", "cols", "ldg") })
    entry.body = "attn2c_quantise_guarded(y, scale, x, guard, ${rows}, ${heads}, ${width}, ${ldx}, ${ldy}, ${lds}, "
      .. "${ldg})"
    entry.equation = entry.equation .. ", NaN where a number of the head's guard is not finite"
  end
  return entry
end

local rows = {
  quantise_heads = quantise_heads(false),
  quantise_guarded = quantise_heads(true),
  centre = {
    constants = { "rows", "cols", "ldx", "ldy" },
    operands = { { "y", "w", matrix("rows", "cols", "ldy") }, { "x", "r", matrix("rows", "cols", "ldx") },
      { "valid", "value" } },
    cost = each(8),
    body = "attn2c_centre(y, x, ${rows}, valid, ${cols}, ${ldx}, ${ldy})",
    equation = "y[i] = x[i] - the mean of x[i] over i < valid",
  },
  column_scale = {
    constants = { "cols", "ldx" },
    operands = { { "scale", "w", vector("cols") }, { "x", "r", matrix("valid", "cols", "ldx") }, { "valid", "value" } },
    cost = function(c) return 8 * c.valid * c.cols end,
    body = "attn2c_column_scale(scale, x, valid, ${cols}, ${ldx})",
    equation = "scale[j] = max |x[i][j]| / 127 over i < valid",
  },
  quantise_columns = {
    constants = { "rows", "cols", "ldx", "ldy" },
    operands = { { "y", "w", matrix("rows", "cols", "ldy"), type = "s8" }, { "x", "r", matrix("rows", "cols", "ldx") },
      { "scale", "r", vector("cols") }, { "valid", "value" } },
    cost = each(8),
    body = "attn2c_quantise_columns(y, x, scale, ${rows}, valid, ${cols}, ${ldx}, ${ldy})",
    equation = "y[i][j] = x[i][j] / scale[j] as integers, 0 for i >= valid",
  },
  quads_of_keys = {
    constants = { "rows", "cols", "ldx", "lds", "ldy", "lanes" },
    operands = { { "y", "w", function(c)
      return { first = 0, { 3 + (c.cols + 3) // 4, 4 * c.ldy }, { 4 * words.round_up(c.rows, c.lanes), 1 } }
    end, type = types.quantised }, { "x", "r", matrix("rows", "cols", "ldx"), type = types.quantised },
      { "scale", "r", function(c) return { first = 0, { c.rows, c.lds }, { 1, 1 } } end } },
    cost = each(8),
    body = "attn2c_quads_of_keys(y, x, scale, ${rows}, ${cols}, ${ldx}, ${lds}, ${ldy}, ${lanes})",
    equation = "y[j / 4][i][j % 4] = x[i][j], after the scales and the first values of sums",
  },
  quads_of_values = {
    constants = { "rows", "cols", "ldx", "ldy" },
    operands = { { "y", "w", function(c)
      return { first = 0, { (c.rows + 3) // 4, 4 * c.ldy }, { 4 * c.cols, 1 } }
    end, type = "s8" }, { "x", "r", matrix("rows", "cols", "ldx"), type = "s8" } },
    cost = each(8),
    body = "attn2c_quads_of_values(y, x, ${rows}, ${cols}, ${ldx}, ${ldy})",
    equation = "y[i / 4][j][i % 4] = x[i][j]",
  },
  exponentials = {
    constants = { "rows", "cols", "ld", "scale" }, whole_vectors = true,
    operands = { { "s", "rw", matrix("rows", "cols", "ld") } },
    cost = each(45),
    body = "attn2c_exponentials(s, ${rows}, ${cols}, ${ld}, ${scale})",
    equation = "s[i][j] = 255 exp(${scale} (s[i][j] - max))",
  },
  exponentials_rounded = {
    constants = { "rows", "cols", "ld", "ldy", "scale" }, whole_vectors = true,
    operands = { { "y", "w", matrix("rows", "cols", "ldy"), type = "u8" }, { "factors", "w", vector("rows") },
      { "s", "rw", matrix("rows", "cols", "ld") } },
    cost = each(45),
    body = "attn2c_exponentials_rounded(y, factors, s, ${rows}, ${cols}, ${ld}, ${ldy}, ${scale})",
    equation = "y[i][j] = 255 exp(${scale} (s[i][j] - max)) as integers, factors[i] = 1 / sum over j",
  },
  round_to_bytes = {
    constants = { "rows", "cols", "ldx", "ldy" }, whole_vectors = true,
    operands = { { "y", "w", matrix("rows", "cols", "ldy"), type = "u8" },
      { "x", "r", matrix("rows", "cols", "ldx") } },
    cost = each(6),
    body = "attn2c_round_to_bytes(y, x, ${rows}, ${cols}, ${ldx}, ${ldy})",
    equation = "y[i][j] = x[i][j] as integers",
  },
  weight_scale = {
    constants = { "rows", "cols", "ldw", "ldx" }, whole_vectors = true,
    operands = { { "factors", "w", vector("rows") }, { "w", "r", matrix("rows", "cols", "ldw"), type = "u8" },
      { "x", "r", matrix("rows", "cols", "ldx") } },
    cost = each(6),
    body = "attn2c_weight_scale(factors, w, x, ${rows}, ${cols}, ${ldw}, ${ldx})",
    equation = "factors[i] = 1 / sum over j of w[i][j], NaN if x[i] has one",
  },
}

-- In a trace, the numbers of an attention in int8 as floats.
for _, type in ipairs { "u8", "s8" } do
  rows["widen_" .. type] = {
    constants = { "rows", "cols", "ldx", "ldy" },
    operands = { { "y", "w", matrix("rows", "cols", "ldy") },
      { "x", "r", matrix("rows", "cols", "ldx"), type = type } },
    cost = each(6),
    body = ("attn2c_widen_%s(y, x, ${rows}, ${cols}, ${ldx}, ${ldy})"):format(type),
    equation = "y = x, as float",
  }
end

return rows
