-- scaled.lua: writes the C function of a strip whose weights are integers in scale blocks.
-- A strip has some rows by all vectors of a panel. It goes over pairs of blocks, 64 inputs. For each block it adds
-- exact integers, and multiplies their sum by the scales of the block and of the row's block
-- (runtime/ops/product_scaled.h).
local types = require("data.types")

local scaled = {}

local BLOCK, PAIR, PANEL = types.SCALE_BLOCK, types.SCALE_PAIR, types.SCALE_PANEL

--- Returns the most rows of a strip on a target: its sums, and the integers of a vector, stay in registers. rows: their
--- type; fine ones have two integers.
function scaled.most_rows(target, rows)
  if target.registers >= 32 then return target.vector == PANEL and 8 or 4 end
  return target.vector == PANEL // 2 and rows ~= types.fine and 4 or 2
end

--- Returns the name of a strip's function. shape: { rows, vectors, types, fetches: whether it prefetches weights }.
function scaled.name(shape)
  return ("strip_%dx%d_%s%s%s"):format(shape.rows, shape.vectors, shape.types.a,
    shape.types.b == types.fine and "_fine" or "", shape.fetches and "_ahead" or "")
end

-- Returns the places in a pair of blocks, in bytes from its beginning.
local function places(block)
  local each = block.scale_bytes * PANEL
  local scales = 2 * block.scales * each
  local head, words = scales * (block.minimum and 2 or 1), BLOCK * block.bits // 8 * PANEL
  return { pair = head + 2 * words, words = function(half) return head + half * words end,
    scale = function(half, part) return (half * block.scales + part) * each end,
    minimum = function(half, part) return scales + (half * block.scales + part) * each end }
end

-- Returns the integer that a row's sum begins with, as C.
local function zero_of(block, row, half, part)
  local at = ("b%d[%d]."):format(row, half)
  if block.bits == 4 then return block.minimum and "0" or at .. "zero4" end
  return at .. (block.scales == 2 and ("zero8_half[%d]"):format(part) or "zero8")
end

local Writer = {}
Writer.__index = Writer

function Writer:add(format, ...) self.lines[#self.lines + 1] = self.indent .. format:format(...) end

function Writer:block_of(body)
  self:add("{")
  self.indent = self.indent .. "  "
  body()
  self.indent = self.indent:sub(3)
  self:add("}")
end

-- Returns `pointer + bytes`, and an offset of so many elements of `each` bytes for a vector.
local function at(bytes, vector, each)
  local text = "a" .. (bytes > 0 and " + " .. bytes or "")
  return vector == 0 and text or ("%s + %s"):format(text, vector * each == 1 and "ATTN2C_LANES"
    or ("%d * ATTN2C_LANES"):format(vector * each))
end

-- Adds the products of four inputs of each row to the sums. number: of these four in the block.
function Writer:products(half, number, vector)
  local block, place = self.block, self.places
  if block.bits == 8 then
    self:add("w = attn2c_words_load(%s);", at(place.words(half) + number * 4 * PANEL, vector, 4))
  elseif number % 2 == 0 then
    self:add("both = attn2c_words_load(%s);", at(place.words(half) + number // 2 * 4 * PANEL, vector, 4))
    self:add("w = attn2c_low_fours(both);")
  else
    self:add("w = attn2c_high_fours(both);")
  end
  if self.rows > 1 then self:add("ATTN2C_HOLD(w);") end
  for row = 0, self.rows - 1 do
    if self.is_fine then
      self:add("attn2c_fine%d_add(w, b%d[%d].x, %d, &s%d, &t%d);", block.bits, row, half, number, row, row)
    else
      self:add("s%d = attn2c_scaled%d_add(w, b%d[%d].x + %d, s%d);", row, block.bits, row, half, 4 * number, row)
    end
  end
end

-- Returns the integers that a row's sums begin with, as lines of C.
function Writer:begin(row, half, part)
  local zero, bits = zero_of(self.block, row, half, part), self.block.bits
  if self.is_fine then
    return ("attn2c_integers s%d = {0}, t%d = attn2c_integers_splat(%s);"):format(row, row, zero)
  end
  return ("attn2c_integers s%d = attn2c_scaled%d_begin(%s);"):format(row, bits, zero)
end

-- Returns the integers of a row's part of a block, as C.
function Writer:ended(row, half, part)
  local bits = self.block.bits
  if self.is_fine then return ("attn2c_fine_end(s%d, t%d)"):format(row, row) end
  return ("attn2c_scaled%d_end(s%d%s)"):format(bits, row,
    bits == 4 and ", " .. zero_of(self.block, row, half, part) or "")
end

-- Adds the part of a block that shares a scale to the sums of one vector.
function Writer:part(half, part, vector)
  local block, place = self.block, self.places
  local load = block.scale_bytes == 2 and "attn2c_halves_load" or "attn2c_floats_load"
  -- gcc would keep the inputs of all rows in memory, from one vector to the next.
  for row = 0, self.vectors > 1 and self.rows - 1 or -1 do self:add("ATTN2C_AGAIN(b%d);", row) end
  for row = 0, self.rows - 1 do self:add("%s", self:begin(row, half, part)) end
  self:add(block.bits == 8 and "attn2c_words w;" or "attn2c_words w, both;")
  local count = BLOCK // 4 // block.scales
  for number = part * count, (part + 1) * count - 1 do self:products(half, number, vector) end
  self:add("const attn2c_vector scale = %s(%s);", load, at(place.scale(half, part), vector, block.scale_bytes))
  if block.minimum then
    self:add("const attn2c_vector least = %s(%s);", load, at(place.minimum(half, part), vector, block.scale_bytes))
  end
  for row = 0, self.rows - 1 do
    local sum = ("c%d_%d"):format(row, vector)
    self:add("%s = attn2c_multiply_add(attn2c_to_floats(%s),", sum, self:ended(row, half, part))
    self:add("  scale * attn2c_splat(b%d[%d].scale), %s);", row, half, sum)
    if block.minimum then
      self:add("%s = attn2c_multiply_add(least, attn2c_splat(b%d[%d].sum), %s);", sum, row, half, sum)
    end
  end
end

-- Writes a pair of blocks.
function Writer:pair()
  for row = 1, self.rows - 1 do self:add("const attn2c_%s *b%d = b0 + %d * ld;", self.of_rows, row, row) end
  for half = 0, 1 do
    for part = 0, self.block.scales - 1 do
      for vector = 0, self.vectors - 1 do
        self:block_of(function() self:part(half, part, vector) end)
      end
    end
  end
end

--- Returns a strip's function as C.
function scaled.text(shape)
  local block = types.all[shape.types.a].block
  local self = setmetatable({ block = block, places = places(block), rows = shape.rows, vectors = shape.vectors,
    of_rows = shape.types.b, is_fine = shape.types.b == types.fine, lines = {}, indent = "" }, Writer)
  self:add("/* %d rows%s by %d vectors of outputs, weights of %s in scale blocks%s. */", shape.rows,
    self.is_fine and " of 15 bits" or "", shape.vectors, types.all[shape.types.a].weights,
    shape.fetches and ", prefetching `lines` cache lines from `ahead` every `every` inputs" or "")
  self:add("ATTN2C_STRIP %s(const %s *a, const %s *b, float *c, int k, ptrdiff_t lda, ptrdiff_t ldb, ptrdiff_t ldc,",
    scaled.name(shape), types.c(shape.types.a), types.c(shape.types.b))
  self:add("    int adds, int a_lanes, int c_lanes%s) {", shape.fetches and ", const void *ahead, int every, int lines"
    or "")
  self.indent = "  "
  self:add("const ptrdiff_t ld = ldb / ATTN2C_SCALE_BLOCK;")
  self:add("const attn2c_%s *b0 = attn2c_%s(b);", self.of_rows, self.is_fine and "fine_blocks" or "blocks")
  self:add("(void)lda, (void)a_lanes, (void)ld;")
  local function each_sum(visit)
    for row = 0, self.rows - 1 do
      for vector = 0, self.vectors - 1 do
        visit(("c%d_%d"):format(row, vector), ("c + %d * ldc + %d * ATTN2C_LANES"):format(row, vector),
          vector == self.vectors - 1)
      end
    end
  end
  each_sum(function(sum) self:add("attn2c_vector %s = attn2c_zero();", sum) end)
  self:add("if (adds) {")
  each_sum(function(sum, place, is_last)
    self:add("  %s = attn2c_load%s(%s%s);", sum, is_last and "_first" or "", place, is_last and ", c_lanes" or "")
  end)
  self:add("}")
  local step = ("i += %d, a += %d, b0 += 2"):format(PAIR, self.places.pair)
  if shape.fetches then
    self:add("for (int i = 0; i < k;) {")
    self:add("  const int stop = i + every < k ? i + every : k;")
    self:add("  ahead = attn2c_ask_near(ahead, lines);")
    self:add("  for (; i < stop; %s) {", step)
  else
    self:add("for (int i = 0; i < k; %s) {", step)
  end
  self.indent = shape.fetches and "      " or "    "
  self:pair()
  self.indent = "  "
  if shape.fetches then self:add("  }") end
  self:add("}")
  each_sum(function(sum, place, is_last)
    self:add("attn2c_store%s(%s, %s%s);", is_last and "_first" or "", place, sum, is_last and ", c_lanes" or "")
  end)
  self.indent = ""
  self:add("}")
  return table.concat(self.lines, "\n")
end

return scaled
