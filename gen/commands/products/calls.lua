-- calls.lua: says how a model calls a product with some tile parameters: its panels, its blocks of rows, their kernels.
-- `tune`, `machine` and the tables of measured products (tests/bench/products/) time these calls without a model.
local ahead = require("passes.plan.ahead")
local divide = require("passes.common.divide")
local registers = require("passes.plan.registers")
local scaled = require("kernels.scaled")
local types = require("data.types")

local calls = {}

-- Most rows of an open product's function. Its prefetches depend only on a call's rows. So candidates share a function
-- if their token blocks have at most this number of rows.
local MOST_ROWS = 256

-- Returns how a block of rows is computed: the product of kernels/product.lua for a panel of `width`, with its
-- prefetch. is_open: whether only a call knows the rows.
local function product_of(target, shape, width, m, rows, choice, ldb, ldc, is_open)
  local lanes, of, least = target.vector, shape.types, choice.stream_rows or target.rule.stream_rows
  local p = { m = m, n = rows, k = shape.inputs, lda = types.whole_lines(width, "f32"), ldb = ldb, ldc = ldc,
    types = of, a_room = true, beta = 0, open = is_open and "n" or nil }
  if not is_open then
    p.strips = registers.strips(m, rows, p.k, target, choice.call_rows, false, of)
    p.fetch = ahead.of(p, p.strips, choice, lanes, least) or nil
    return p
  end
  p.strips = registers.open_panel(m, p.k, target, choice.call_rows, of)
  p.fetch = ahead.by_strips(p, choice, lanes, least)
  return p
end

-- Returns what a product prefetches for a block of rows, as text.
local function fetch_text(p, rows)
  local fetch = p.fetch
  if p.open then fetch = fetch and ahead.of_rows(p, rows) end
  return fetch and ("%d %d %d %d %d %d"):format(fetch.from, fetch.each, fetch.pace or fetch.every, fetch.lines,
    fetch.far or 0, fetch.nth or 1) or ""
end

--- Returns the calls of a product { outputs, inputs, rows, types } on a target (an entry of targets.list) with some
--- parameters: { rows, panels = { { product = rows -> product, at, column } }, blocks, ldb, ldc, types, elements,
--- signature }. `at` is in elements of A, `column` in C; an open product has rows 0. Equal signatures are equal calls.
function calls.of(target, shape, choice, is_open)
  local of = shape.types
  local divided = scaled.panels(divide.panels(shape.outputs, choice.panel, of.a), target)
  local ldc = divide.leading_dimension(shape.outputs, target.rule, of.c)
  local ldb = divide.leading_dimension(shape.inputs, target.rule, of.b)
  local outputs = divide.padded(divided.widths, ldc, target.rule.pad)
  local blocks = divide.blocks(shape.rows, choice.token_block)
  local result = { rows = shape.rows, panels = {}, blocks = blocks, ldb = ldb, ldc = ldc, types = of }
  local at, column, parts, made = 0, 0, {}, {} -- panels of the same width share their products
  for i, width in ipairs(divided.widths) do
    local shared = width * 8192 + outputs[i]
    made[shared] = made[shared] or {}
    local panel = { at = at, column = column, product = made[shared] }
    for _, block in ipairs(blocks) do
      local key = is_open and 0 or block.count
      panel.product[key] = panel.product[key] or product_of(target, shape, width, outputs[i],
        is_open and math.max(choice.token_block, MOST_ROWS) or block.count, choice, ldb, ldc, is_open)
      parts[#parts + 1] = ("%d %d %s"):format(width, block.count, fetch_text(panel.product[key], block.count))
    end
    result.panels[i] = panel
    at = at + types.elements(types.panel_bytes(shape.inputs, types.whole_lines(width, "f32"), of.a), of.a)
    column = column + width
  end
  result.elements, result.signature = at, table.concat(parts, "; ")
  return result
end

return calls
