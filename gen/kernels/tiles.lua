-- tiles.lua: writes the C function of a strip in tiles of AMX: up to 32 rows by two vectors of outputs.
-- A strip has one or two tiles of rows by one or two of outputs (runtime/ops/product/tiles.h). Panels and rows are
-- read in place, since a tile is loaded with a stride. Only the last inputs, where they do not fill a step, are
-- copied and padded with zeros.
local forms = require("kernels.forms")
local types = require("data.types")
local Writer = require("kernels.writer")

local tiles = {}

--- SIDE: the rows of a tile, and its outputs. BYTES: the bytes of a row of a tile.
tiles.SIDE, tiles.BYTES = 16, 64

--- Returns the inputs of a step: the elements in a tile's row, or fewer if steps of equal size then cover all k inputs.
function tiles.step(k, type)
  local most, group = types.elements(tiles.BYTES, type), types.group(type)
  local count = (k + most - 1) // most
  return k % (count * group) == 0 and k // count or most
end

--- Returns the inputs of a step of a product whose inputs only a call knows.
function tiles.open_step(type) return types.elements(tiles.BYTES, type) end

--- True if a product of k inputs is made of tiles: its inputs fill a step. Rows and outputs do not matter. They may
--- depend on what else a call computes, and strips of bf16 without tiles give other bits.
function tiles.fit(k, type) return k >= tiles.open_step(type) end

-- The most steps whose weights are summed at a time if a product has more than `WHOLE` and several strips. They then
-- stay in a first-level cache of 48 KB while all strips of rows read them.
local NEAR, WHOLE = 16, 20

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

local function at(pointer, count, each) return count == 0 and pointer or ("%s + %s"):format(pointer, each) end

-- Return the places of tiles of B and C; A's places are a strip's.
local function b_at(i) return at("b", i, ("%d * ldb"):format(tiles.SIDE)) end
local function c_at(i, j) return at(at("c", i, ("%d * ldc"):format(tiles.SIDE)), j, tostring(tiles.SIDE)) end

--- Returns the name of a strip's function. shape: { rows, vectors, fetches, form, types, step, rest: whether its
--- inputs may end within a step, once: whether no other strip reads its rows, some: whether it has the number of rows
--- that its last argument says, at most `rows`, and more than a tile less }.
function tiles.name(shape)
  local full = types.elements(tiles.BYTES, shape.types.a)
  return ("strip_%dx%d%s%s%s%s%s%s"):format(shape.rows, shape.vectors, forms.all[shape.form].label,
    shape.step < full and "_" .. shape.step or "", shape.rest and "_rest" or "", shape.once and "_once" or "",
    shape.some and "_some" or "", shape.fetches and "_ahead" or "")
end

-- high, wide: tiles of rows and of outputs.
local Strip = setmetatable({}, Writer)
Strip.__index = Strip

local function new_strip(shape)
  return setmetatable({ of = shape.types, form = forms.all[shape.form], group = types.group(shape.types.a),
    high = shape.rows > tiles.SIDE and 2 or 1, wide = shape.vectors }, Strip):begin(shape)
end

-- Returns the rows of the i-th tile of rows, and the outputs of the j-th tile of outputs, as C.
function Strip:rows_of(i)
  if i < self.high - 1 then return tiles.SIDE end
  if self.shape.some then return i == 0 and "rows" or ("rows - %d"):format(i * tiles.SIDE) end
  return self.shape.rows - i * tiles.SIDE
end

function Strip:lanes_of(j) return j == self.wide - 1 and "c_lanes" or tostring(tiles.SIDE) end

function Strip:a_at(j) return at("a", j, tostring(tiles.SIDE * self.group)) end

-- Calls visit(tile, i, j) for each tile of sums.
function Strip:each_sum(visit)
  for i = 0, self.high - 1 do for j = 0, self.wide - 1 do visit(2 * i + j, i, j) end end
end

function Strip:signature()
  local shape, of = self.shape, self.of
  local list = self.lines
  list[1] = ("/* %s%d rows by %d vectors of outputs, in tiles, %d inputs a step%s%s. */"):format(
    shape.some and "At most " or "", shape.rows, self.wide, shape.step,
    shape.rest and ", perhaps fewer in the last" or "",
    shape.fetches and ", prefetching `run` cache lines at `lines` places from `ahead` in each" or "")
  list[2] = ("ATTN2C_STRIP %s(const %s *a, const %s *b, %s *c, int k, ptrdiff_t lda, ptrdiff_t ldb, ptrdiff_t ldc,")
    :format(tiles.name(shape), types.c(of.a), types.c(of.b), types.c(of.c))
  list[3] = ("    int adds, int c_lanes%s%s) {"):format(
    shape.fetches and ", const char *ahead, ptrdiff_t apart, int lines, int run" or "",
    shape.some and ", int rows" or "")
  self.indent = "  "
  self:add("const ptrdiff_t a_stride = 4 * lda, b_stride = ldb * (ptrdiff_t)sizeof *b, c_stride = 4 * ldc;")
  self:add(shape.some and "(void)c_lanes, (void)rows;" or "(void)c_lanes;")
end

-- Loads C into the tiles of sums. Weights with first values begin with these.
function Strip:load_sums()
  local function load()
    self:each_sum(function(number, i, j) self:add("attn2c_tile_load(%d, %s, c_stride);", number, c_at(i, j)) end)
  end
  if not self.form.start then return load() end
  self:block("if (adds == 2)", load, function()
    self:add("attn2c_tile_copy sums;")
    self:each_sum(function(number, i, j)
      self:add("attn2c_tile_sums(&sums, %s, %s, ldc, %s, %s);", self:a_at(j), c_at(i, j), self:rows_of(i),
        self:lanes_of(j))
      self:add("attn2c_tile_load(%d, &sums, 64);", number)
    end)
  end)
end

-- Begins the sums, with C or without.
function Strip:begin_sums()
  self:block("if (adds)", function() self:load_sums() end, function()
    self:each_sum(function(number, _, j)
      if self.form.start then
        self:add("attn2c_tile_load(%d, %s, 0);", number, self:a_at(j)) -- a stride of 0 loads one row as all
      else
        self:add("attn2c_tile_zero(%d);", number)
      end
    end)
  end)
  if self.form.start then self:add("a += %d * lda;", types.all[self.of.a].start * self.group) end
end

-- Writes a step: `inputs(i)` and `weights(j)` load tiles 4 + i and 6 + j, each before the first product that reads it.
-- Before each product it prefetches a share of the places.
function Strip:step(inputs, weights, fetches)
  local done, all = 0, self.high * self.wide
  self:each_sum(function(number, i, j)
    if j == 0 then inputs(i) end
    if number == 0 then for each = 0, self.wide - 1 do weights(each) end end
    if fetches then
      self:add("attn2c_tile_ask(ahead, apart, lines * %d / %d, lines * %d / %d, run);", done, all, done + 1, all)
    end
    self:add("%s(%d, %d, %d);", self.form.multiply_add, number, 4 + i, 6 + j)
    done = done + 1
  end)
  if fetches then self:add("ahead += run * 64;") end
end

-- Writes the loop over whole steps.
function Strip:whole_steps()
  local step = self.shape.step
  local load = self.shape.once and "attn2c_tile_load_once" or "attn2c_tile_load"
  local head = ("for (int i = 0; i + %d <= k; i += %d, a += %d * lda, b += %d)"):format(step, step, step, step)
  self:block(head, function()
    self:step(function(i) self:add("%s(%d, %s, b_stride);", load, 4 + i, b_at(i)) end,
      function(j) self:add("attn2c_tile_load(%d, %s, a_stride);", 6 + j, self:a_at(j)) end, self.shape.fetches)
  end)
end

-- Writes the step of the last inputs, if there are some; they are copied.
function Strip:rest()
  self:add("const int bytes = k %% %d * (int)sizeof *b;", self.shape.step)
  self:block("if (bytes > 0)", function()
    self:add("attn2c_tile_copy copy;")
    self:step(function(i)
      self:add("attn2c_tile_inputs(&copy, %s, b_stride, %s, bytes);", b_at(i), self:rows_of(i))
      self:add("attn2c_tile_load(%d, &copy, 64);", 4 + i)
    end, function(j)
      self:add("attn2c_tile_weights(&copy, %s, a_stride, %s, bytes);", self:a_at(j), self:lanes_of(j))
      self:add("attn2c_tile_load(%d, &copy, 64);", 6 + j)
    end)
  end)
end

--- Returns a strip's function as C. Parameters of that: c_lanes: the outputs of the last vector; adds: 0, 1 if sums
--- are added to C, or 2 if C has the sums of the inputs before; with fetches, how it prefetches (plan/ahead.lua).
function tiles.text(shape)
  local strip = new_strip(shape)
  strip:signature()
  strip:begin_sums()
  strip:whole_steps()
  if shape.rest then strip:rest() end
  strip:each_sum(function(number, i, j) strip:add("attn2c_tile_store(%d, %s, c_stride);", number, c_at(i, j)) end)
  strip.lines[#strip.lines + 1] = "}"
  return table.concat(strip.lines, "\n")
end

--- Returns the line that configures tiles for strips of `rows` rows and `outputs` outputs, and steps of `step`
--- inputs, unless they are configured so. rows may be a C expression.
function tiles.configure(rows, outputs, step, type)
  return ("attn2c_tiles_configure(%s, %d, %d);"):format(rows, outputs, types.bytes(step, type))
end

return tiles
