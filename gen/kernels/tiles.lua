-- tiles.lua: writes the C function of a strip in tiles of AMX: up to 32 rows by two vectors of outputs.
-- A strip has one or two tiles of rows by one or two of outputs (runtime/ops/product_tiles.h). Panels and rows are
-- read in place, since a tile is loaded with a stride. Only the last inputs, where they do not fill a step, are
-- copied and padded with zeros.
local forms = require("kernels.forms")
local types = require("data.types")

local tiles = {}

--- SIDE: the rows of a tile, and its outputs. BYTES: the bytes of a row of a tile.
tiles.SIDE, tiles.BYTES = 16, 64

--- Returns the inputs of a step: the elements in a tile's row, or fewer if steps of equal size then cover all k
--- inputs.
function tiles.step(k, type)
  local most, group = types.elements(tiles.BYTES, type), types.group(type)
  local count = (k + most - 1) // most
  return k % (count * group) == 0 and k // count or most
end

--- True if a product of k inputs is made of tiles: its inputs fill a step. Rows and outputs do not matter. They may
--- depend on what else a call computes, and strips of bf16 without tiles give other bits.
function tiles.fit(k, type) return k >= types.elements(tiles.BYTES, type) end

-- The most steps whose rows and weights are summed at a time if a product has more than `WHOLE` and several strips.
-- They then stay in a first-level cache of 48 KB while all strips of rows read the weights.
local NEAR, WHOLE = 8, 12

--- Returns the inputs of a K block: a number of steps, or all k inputs.
function tiles.block(k, type)
  local step = tiles.step(k, type)
  local steps = k // step
  if steps <= WHOLE then return k end
  local blocks = (steps + NEAR - 1) // NEAR
  return (steps + blocks - 1) // blocks * step
end

--- Returns the K blocks of k inputs, alike ones together: { first, inputs, count }. Only the last may have a step that
--- is not whole.
function tiles.blocks(k, block, step)
  local count = k // block
  local rest = k - count * block
  if rest < step then count, rest = count - 1, rest + block end
  if rest == block then return { { first = 0, inputs = block, count = count + 1 } } end
  local last = { first = count * block, inputs = rest, count = 1 }
  return count == 0 and { last } or { { first = 0, inputs = block, count = count }, last }
end

--- Returns the name of a strip's function. shape: { rows, vectors, fetches, form, types, step, rest: whether its
--- inputs end within a step, some: whether it has as many rows as its last argument says, at most `rows`, and more than
--- a tile less }.
function tiles.name(shape)
  local full = types.elements(tiles.BYTES, shape.types.a)
  return ("strip_%dx%d%s%s%s%s%s"):format(shape.rows, shape.vectors, forms.all[shape.form].label,
    shape.step < full and "_" .. shape.step or "", shape.rest and "_rest" or "", shape.some and "_some" or "",
    shape.fetches and "_ahead" or "")
end

-- Returns `pointer + each`, or `pointer` if count is 0.
local function at(pointer, count, each) return count == 0 and pointer or ("%s + %s"):format(pointer, each) end

--- Returns a strip's function as C. Parameters of that: c_lanes: the outputs of the last vector; adds: 0, 1 if sums
--- are added to C, or 2 if C has the sums of the inputs before; with fetches, how it prefetches (plan/ahead.lua).
function tiles.text(shape)
  local form, of = forms.all[shape.form], shape.types
  local group, lines, indent = types.group(of.a), {}, "  "
  local high, wide = shape.rows > tiles.SIDE and 2 or 1, shape.vectors
  local function add(format, ...) lines[#lines + 1] = indent .. format:format(...) end
  local function rows_of(i)
    if i < high - 1 then return tiles.SIDE end
    if shape.some then return i == 0 and "rows" or ("rows - %d"):format(i * tiles.SIDE) end
    return shape.rows - i * tiles.SIDE
  end
  local function lanes_of(j) return j == wide - 1 and "c_lanes" or tostring(tiles.SIDE) end
  local function c_at(i, j)
    return at(at("c", i, ("%d * ldc"):format(tiles.SIDE)), j, tostring(tiles.SIDE))
  end
  local function a_at(j) return at("a", j, tostring(tiles.SIDE * group)) end
  local function b_at(i) return at("b", i, ("%d * ldb"):format(tiles.SIDE)) end
  local function each_sum(visit)
    for i = 0, high - 1 do for j = 0, wide - 1 do visit(2 * i + j, i, j) end end
  end
  -- Writes a step: `inputs(i)` and `weights(j)` load tiles 4 + i and 6 + j, each before the first product that reads
  -- it. Before each product it prefetches a share of the places.
  local function step(inputs, weights, asks)
    local done, all = 0, high * wide
    each_sum(function(number, i, j)
      if j == 0 then inputs(i) end
      if number == 0 then for each = 0, wide - 1 do weights(each) end end
      if asks then
        add("attn2c_tile_ask(ahead, apart, lines * %d / %d, lines * %d / %d, run);", done, all, done + 1, all)
      end
      add("%s(%d, %d, %d);", form.multiply_add, number, 4 + i, 6 + j)
      done = done + 1
    end)
    if asks then add("ahead += run * 64;") end
  end

  lines[1] = ("/* %s%d rows by %d vectors of outputs, in tiles, %d inputs a step%s%s. */"):format(
    shape.some and "At most " or "", shape.rows, wide, shape.step, shape.rest and ", fewer in the last" or "",
    shape.fetches and ", prefetching `run` cache lines at `lines` places from `ahead` in each" or "")
  lines[2] = ("ATTN2C_STRIP %s(const %s *a, const %s *b, %s *c, int k, ptrdiff_t lda, ptrdiff_t ldb, ptrdiff_t ldc,")
    :format(tiles.name(shape), types.c(of.a), types.c(of.b), types.c(of.c))
  lines[3] = ("    int adds, int c_lanes%s%s) {"):format(
    shape.fetches and ", const char *ahead, ptrdiff_t apart, int lines, int run" or "",
    shape.some and ", int rows" or "")
  add("const ptrdiff_t a_stride = 4 * lda, b_stride = ldb * (ptrdiff_t)sizeof *b, c_stride = 4 * ldc;")
  add(shape.some and "(void)c_lanes, (void)rows;" or "(void)c_lanes;")
  add("if (adds) {")
  indent = "    "
  if form.start then
    add("if (adds == 2) {")
    indent = "      "
    each_sum(function(number, i, j) add("attn2c_tile_load(%d, %s, c_stride);", number, c_at(i, j)) end)
    indent = "    "
    add("} else {")
    indent = "      "
    add("attn2c_tile_copy sums;")
  end
  each_sum(function(number, i, j)
    if form.start then
      add("attn2c_tile_sums(&sums, %s, %s, ldc, %s, %s);", a_at(j), c_at(i, j), rows_of(i), lanes_of(j))
      add("attn2c_tile_load(%d, &sums, 64);", number)
    else
      add("attn2c_tile_load(%d, %s, c_stride);", number, c_at(i, j))
    end
  end)
  if form.start then
    indent = "    "
    add("}")
  end
  indent = "  "
  add("} else {")
  indent = "    "
  each_sum(function(number, _, j) -- a stride of 0 loads one row as all
    if form.start then
      add("attn2c_tile_load(%d, %s, 0);", number, a_at(j))
    else
      add("attn2c_tile_zero(%d);", number)
    end
  end)
  indent = "  "
  add("}")
  if form.start then add("a += %d * lda;", types.all[of.a].start * group) end
  add("for (int i = 0; i + %d <= k; i += %d, a += %d * lda, b += %d) {", shape.step, shape.step, shape.step,
    shape.step)
  indent = "    "
  step(function(i) add("attn2c_tile_load(%d, %s, b_stride);", 4 + i, b_at(i)) end,
    function(j) add("attn2c_tile_load(%d, %s, a_stride);", 6 + j, a_at(j)) end, shape.fetches)
  indent = "  "
  add("}")
  if shape.rest then
    add("{")
    indent = "    "
    add("const int bytes = k %% %d * (int)sizeof *b;", shape.step)
    add("attn2c_tile_copy copy;")
    step(function(i)
      add("attn2c_tile_inputs(&copy, %s, b_stride, %s, bytes);", b_at(i), rows_of(i))
      add("attn2c_tile_load(%d, &copy, 64);", 4 + i)
    end, function(j)
      add("attn2c_tile_weights(&copy, %s, a_stride, %s, bytes);", a_at(j), lanes_of(j))
      add("attn2c_tile_load(%d, &copy, 64);", 6 + j)
    end)
    indent = "  "
    add("}")
  end
  each_sum(function(number, i, j) add("attn2c_tile_store(%d, %s, c_stride);", number, c_at(i, j)) end)
  lines[#lines + 1] = "}"
  return table.concat(lines, "\n")
end

--- Returns the line that configures tiles for strips of `rows` rows and `outputs` outputs, and steps of `step`
--- inputs. rows may be a C expression.
function tiles.configure(rows, outputs, step, type)
  return ("attn2c_tiles_configure(%s, %d, %d);"):format(rows, outputs, types.bytes(step, type))
end

tiles.release = "attn2c_tiles_release();"

return tiles
