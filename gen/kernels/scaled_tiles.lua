-- scaled_tiles.lua: writes products of many rows whose weights are integers in scale blocks, in tiles of AMX.
-- A strip has 16 rows by a panel's 16 outputs. Its weights were widened before (runtime/ops/product/scaled_tiles.h). A
-- tile sums the exact integers of a block. The strip multiplies them by the scales of the block and of the row's
-- block, and adds them to its sums, in the order of the strips of scaled.lua. So the bits are the same.
local lines_of_c = require("kernels.lines")
local types = require("data.types")

local scaled_tiles = {}

local BLOCK, PAIR, PANEL = types.SCALE_BLOCK, types.SCALE_PAIR, types.SCALE_PANEL

--- The rows of a strip. A product with fewer has strips without tiles.
scaled_tiles.ROWS = 16

-- The most blocks that are widened at a time. With the rows' inputs they stay in a first-level cache of 48 KB.
local MOST_BLOCKS = 32

--- Returns the blocks of k inputs, and the number that is widened at a time; both are even.
function scaled_tiles.blocks(k)
  local pairs_of_k = (k + PAIR - 1) // PAIR
  local parts = (2 * pairs_of_k + MOST_BLOCKS - 1) // MOST_BLOCKS
  return 2 * pairs_of_k, 2 * ((pairs_of_k + parts - 1) // parts)
end

--- Returns the name of a strip's function. shape: { types }.
function scaled_tiles.name(shape) return ("strip_%dx1_%s_tiles"):format(scaled_tiles.ROWS, shape.types.a) end

-- A unit is a part of a block that has a scale: one or two a block. A pair numbers its units from 0. Two tiles take
-- turns.
local function place_of(unit, scales) return unit // scales, unit % scales, unit % 2 end

-- Adds the lines that begin to sum the integers of a unit. later: C text of the blocks before its pair.
local function add_tile(add, unit, scales, later)
  local half, part, turn = place_of(unit, scales)
  local sum, x, w = 3 * turn, 4 + turn, 6 + turn
  add("attn2c_tile_zero(%d);", sum)
  add("attn2c_tile_load(%d, b0[%d%s].x + %d, b_stride);", x, half, later, part * BLOCK // scales)
  add("attn2c_tile_load(%d, w[%d%s].w + %d, 64);", w, half, later, part * BLOCK // 4 // scales)
  add("attn2c_tile_signed(%d, %d, %d);", sum, x, w)
end

-- Adds the lines that multiply the sums of a unit by scales, and add them.
local function add_sums(add, block, unit)
  local half, part, turn = place_of(unit, block.scales)
  add("{")
  add("  const attn2c_vector scale = w[%d].scale[%d];", half, part)
  if block.minimum then add("  const attn2c_vector least = w[%d].least[%d];", half, part) end
  for row = 0, scaled_tiles.ROWS - 1 do
    local at = ("b0[%d * ld%s]."):format(row, half == 0 and "" or " + " .. half)
    add("  c%d = attn2c_multiply_add(attn2c_to_floats((attn2c_integers)attn2c_words_load(sums[%d].row[%d])),", row,
      turn, row)
    add("    scale * attn2c_splat(%sscale), c%d);", at, row)
    if block.minimum then
      add("  c%d = attn2c_multiply_add(least, attn2c_splat(%ssum%s), c%d);", row, at,
        block.scales == 2 and ("_half[%d]"):format(part) or "", row)
    end
  end
  add("}")
end

-- Adds the lines of a unit. Its sums are stored, and its tile begins with the unit after the next, before the sums are
-- multiplied: so tiles and vectors work at the same time.
local function add_unit(add, block, unit)
  local units, turn = 2 * block.scales, unit % 2
  add("attn2c_tile_store(%d, sums + %d, 64);", 3 * turn, turn)
  if unit + 2 < units then
    add_tile(add, unit + 2, block.scales, "")
  else
    add("if (i + 2 < blocks) {")
    add_tile(function(...) add("  " .. (...), select(2, ...)) end, unit + 2 - units, block.scales, " + 2")
    add("}")
  end
  add_sums(add, block, unit)
end

--- Returns a strip's function as C.
function scaled_tiles.text(shape)
  local of = types.all[shape.types.a]
  local block, lines, indent = of.block, {}, "  "
  local function add(format, ...) lines[#lines + 1] = indent .. format:format(...) end
  lines[1] = ("/* %d rows by a panel of widened weights of %s, in tiles; writes the rows from `first` on. */"):format(
    scaled_tiles.ROWS, of.weights)
  lines[2] = ("ATTN2C_STRIP %s(const attn2c_wide_block *w, const %s *b, float *c, int blocks, ptrdiff_t ldb,"):format(
    scaled_tiles.name(shape), types.c(shape.types.b))
  lines[3] = "    ptrdiff_t ldc, int adds, int c_lanes, int first) {"
  add("const ptrdiff_t ld = ldb / ATTN2C_SCALE_BLOCK, b_stride = ld * (ptrdiff_t)sizeof(attn2c_x8);")
  add("const attn2c_x8 *b0 = attn2c_blocks(b);")
  add("attn2c_tile_copy sums[2] __attribute__((aligned(64)));")
  for row = 0, scaled_tiles.ROWS - 1 do add("attn2c_vector c%d = attn2c_zero();", row) end
  add("if (adds) {")
  for row = 0, scaled_tiles.ROWS - 1 do add("  c%d = attn2c_load_first(c + %d * ldc, c_lanes);", row, row) end
  add("}")
  for unit = 0, 1 do add_tile(add, unit, block.scales, "") end
  add("for (int i = 0; i < blocks; i += 2, w += 2, b0 += 2) {")
  indent = "    "
  for unit = 0, 2 * block.scales - 1 do add_unit(add, block, unit) end
  indent = "  "
  add("}")
  for row = 0, scaled_tiles.ROWS - 1 do
    add("%sattn2c_store_first(c + %d * ldc, c%d, c_lanes);", row < scaled_tiles.ROWS - 1
      and ("if (first <= %d) "):format(row) or "", row, row)
  end
  lines[#lines + 1] = "}"
  return table.concat(lines, "\n")
end

--- Returns the body of a product of at least ROWS rows as lines of C. The last strip has the last ROWS rows, and
--- writes those that no strip before it has written. n: its rows as C; fetch: how it prefetches, nil: not at all.
function scaled_tiles.body(kernel, n, adds, a, b, fetch)
  local type = kernel.types.a
  local block, all, part = types.all[type].block, scaled_tiles.blocks(kernel.k)
  local rows, lanes = scaled_tiles.ROWS, math.min(kernel.m, PANEL)
  local lines = { ("attn2c_wide_block wide[%d];"):format(part),
    ("attn2c_scaled_tiles_configure(%d);"):format(block.scales) }
  local by, added = "", adds
  if part < all then
    lines[#lines + 1] = ("for (int block = 0; block < %d; block += %d) {"):format(all, part)
    by, added = "  ", ("block > 0 || %s"):format(adds)
    lines[#lines + 1] = all % part == 0 and ("  const int blocks = %d;"):format(part)
      or ("  const int blocks = block + %d <= %d ? %d : %d - block;"):format(part, all, part, all)
  end
  local function add(format, ...) lines[#lines + 1] = by .. format:format(...) end
  local count = part < all and "blocks" or tostring(all)
  add("attn2c_scaled_widen(wide, %s, %s, %s, %d, ATTN2C_%s, %d);", a, part < all and "block" or "0", count, all,
    type:upper(), fetch and fetch.from or 0)
  add("for (ptrdiff_t row = 0; row < (ptrdiff_t)%s; row += %d) {", n, rows)
  add("  const ptrdiff_t from = row + %d <= (ptrdiff_t)%s ? row : (ptrdiff_t)%s - %d;", rows, n, n, rows)
  add("  %s(wide, %s + from * %d%s, c + from * %d, %s,", scaled_tiles.name(kernel), b, kernel.ldb,
    part < all and (" + block * %d"):format(BLOCK) or "", kernel.ldc, count)
  add("    %d, %d, %s, %d, (int)(row - from));", kernel.ldb, kernel.ldc, added, lanes)
  add("}")
  if part < all then lines[#lines + 1] = "}" end
  return lines
end

--- Returns the body of an open product, which has tiles from some rows on. few: the body for fewer rows.
function scaled_tiles.either(kernel, few, adds, a, b)
  local fetch = kernel.fetch and kernel.fetch.by_strips
  return lines_of_c.block(("if (n >= %d)"):format(kernel.strips.many_rows),
    scaled_tiles.body(kernel, "n", adds, a, b, fetch and fetch[#fetch] or nil), few)
end

return scaled_tiles
