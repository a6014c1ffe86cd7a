-- scaled.lua: writes the C function of strips whose weights are integers in scale blocks.
-- A strip has some rows by all vectors of a panel. It goes over pairs of blocks, 64 inputs. For each block it adds
-- exact integers, and multiplies their sum by the scales of the block and of the row's block
-- (runtime/ops/product/scaled.h).
local forms = require("kernels.forms")
local types = require("data.types")
local Writer = require("kernels.writer")

local scaled = {}

local BLOCK, PAIR, PANEL = types.SCALE_BLOCK, types.SCALE_PAIR, types.SCALE_PANEL

--- Returns the most rows of a strip on a target: its sums, and the integers of a vector, stay in registers. rows: their
--- type; fine ones have two integers.
function scaled.most_rows(target, rows)
  if target.registers >= 32 then return target.vector == PANEL and 8 or 4 end
  return target.vector == PANEL // 2 and rows ~= types.fine and 4 or 2
end

--- Returns the name of a function of strips, which differ only in their rows. shape: { rows: the most, least: the
--- fewest, nil: the same, vectors, types, fetches: whether it prefetches weights }.
function scaled.name(shape)
  return ("strip_x%d_%s%s%s"):format(shape.vectors, shape.types.a, shape.types.b == types.fine and "_fine" or "",
    shape.fetches and "_ahead" or "")
end

--- Returns the parameters of such a function that say how it prefetches: { type, name }.
function scaled.asks(shape)
  return shape.fetches and { { "const void *", "ahead" }, { "int ", "every" } } or {}
end

-- Returns the places in a pair of blocks, in bytes from its beginning.
local function places(block)
  local each = block.scale_bytes * PANEL
  local scales = 2 * block.scales * each
  local head, words = scales + 2 * block.minimum_bytes * PANEL, BLOCK * block.bits // 8 * PANEL
  return { pair = head + 2 * words, words = function(half) return head + half * words end,
    scale = function(half, part) return (half * block.scales + part) * each end,
    minimum = function(half, part) return scales + (half * block.scales + part) * each end }
end

-- The most bits of integers whose products are added in 16 bits (runtime/ops/product/scaled.h). Other integers, and
-- values of a table, are bytes + 128.
local SMALL = 4

-- Returns the bits of the integers that are multiplied: 4 or 8.
local function width_of(block) return (block.values or block.bits > SMALL) and 8 or SMALL end

local Strip = setmetatable({}, Writer)
Strip.__index = Strip

-- Returns the integer that a row's sum begins with, as C.
function Strip:zero(row, half, part)
  local block, width = self.weights, width_of(self.weights)
  if width == SMALL and block.minimum then return "0" end
  local place = ("b%d[%d]."):format(row, half)
  local four = block.scales == 2 and ("%szero4_half[%d]"):format(place, part) or place .. "zero4"
  if width == SMALL then return block.bits == SMALL and four or ("%s / %d"):format(four, 1 << SMALL - block.bits) end
  return block.scales == 1 and place .. "zero8"
    or ("%s * (ATTN2C_%s_OFFSET / 8)"):format(four, self.is_fine and "FINE" or "SCALED")
end

-- Returns `pointer + bytes`, and an offset of a number of elements of `each` bytes for a vector.
local function at(bytes, vector, each)
  local text = "a" .. (bytes > 0 and " + " .. bytes or "")
  return vector == 0 and text or ("%s + %s"):format(text, vector * each == 1 and "ATTN2C_LANES"
    or ("%d * ATTN2C_LANES"):format(vector * each))
end

-- Prefetches the lines of a step. The steps of a pair prefetch all its lines, at equal distances: a processor that is
-- asked for all at once takes up to 1.1 times as long.
function Strip:ask()
  local lines, steps = types.pair_lines(PANEL, self.shape.types.a), 2 * (BLOCK // 4) * self.vectors
  local count = (self.step + 1) * lines // steps - self.step * lines // steps
  self.step = self.step + 1
  if self.shape.fetches and count > 0 then self:add("if (asks) ahead = attn2c_ask_near(ahead, %d);", count) end
end

-- Writes the load of a plane's words, if the four inputs `number` are the first of the words or of the part of a block.
-- bits: of the plane; begin: its place.
function Strip:load_plane(name, bits, begin, number, vector)
  if number * bits % 8 > 0 and number % (BLOCK // 4 // self.weights.scales) > 0 then return end
  self:add("%s = attn2c_words_load(%s);", name, at(begin + number * bits // 8 * 4 * PANEL, vector, 4))
end

-- Writes the integers of four inputs of all outputs. number: of these four in the block.
function Strip:integers(half, number, vector)
  local block, begin = self.weights, self.places.words(half)
  local low, high = table.unpack(block.planes)
  if low == 8 then return self:load_plane("w", low, begin, number, vector) end
  self:load_plane("low", low, begin, number, vector)
  local text = ("attn2c_plane(low, %d, %d, 0)"):format(number * low % 8, low)
  if high > 0 then
    self:load_plane("high", high, begin + BLOCK * low // 8 * PANEL, number, vector)
    text = ("%s | attn2c_plane(high, %d, %d, %d)"):format(text, number * high % 8, high, low)
  end
  if block.values then
    text = ("attn2c_values(values, %s)"):format(text)
  elseif width_of(block) == 8 then
    text = ("(%s) + 0x%02xu * 0x01010101u"):format(text, 128 - (block.minimum and 0 or 1 << block.bits - 1))
  end
  self:add("w = %s;", text)
end

-- Adds the products of four inputs of each row to the sums. number: of these four in the block.
function Strip:products(half, number, vector)
  self:ask()
  local width = width_of(self.weights)
  self:integers(half, number, vector)
  if self.shape.rows > 1 then self:add("%sATTN2C_HOLD(w);", self.least > 1 and "" or "if (rows > 1) ") end
  self:each_row(function(row)
    if self.is_fine then
      return { ("attn2c_fine%d_add(w, b%d[%d].x, %d, &s%d, &t%d);"):format(width, row, half, number, row, row) }
    end
    return { ("s%d = attn2c_scaled%d_add(w, b%d[%d].x + %d, s%d);"):format(row, width, row, half, 4 * number, row) }
  end)
end

-- Returns the start of a row's integers, as C.
function Strip:start(row, half, part)
  local zero, bits = self:zero(row, half, part), width_of(self.weights)
  if self.is_fine then return ("t%d = attn2c_integers_splat(%s);"):format(row, zero) end
  return ("s%d = attn2c_scaled%d_begin(%s);"):format(row, bits, zero)
end

-- Returns the integers of a row's part of a block, as C.
function Strip:ended(row, half, part)
  local bits = width_of(self.weights)
  if self.is_fine then return ("attn2c_fine_end(s%d, t%d)"):format(row, row) end
  return ("attn2c_scaled%d_end(s%d%s)"):format(bits, row,
    bits == SMALL and ", " .. self:zero(row, half, part) or "")
end

-- Writes the load of the scales of a part of a block, and of the minima if there are any.
function Strip:scales(half, part, vector)
  local block, place = self.weights, self.places
  local function from(bytes) return at(bytes, vector, block.scale_bytes) end
  self:add("attn2c_vector scale%s;", block.minimum and ", least" or "")
  self:add("attn2c_scales_load(facts, %s, %s, %s, &scale, %s);", from(place.scale(half, part)),
    block.minimum_bytes > 0 and from(place.minimum(half, part)) or "NULL",
    block.unit and ("units + i / %d * %d%s"):format(types.SCALE_UNIT, block.unit_bytes * PANEL, at(0, vector, 2):sub(2))
    or "NULL", block.minimum and "&least" or "NULL")
end

-- Adds the part of a block that shares a scale to the sums of one vector.
function Strip:part(half, part, vector)
  local block = self.weights
  -- gcc would keep the inputs of all rows in memory, from one vector to the next.
  if self.vectors > 1 then
    self:each_row(function(row) return { ("ATTN2C_AGAIN(b%d);"):format(row) } end)
  end
  for row = 0, self.shape.rows - 1 do
    self:add(self.is_fine and "attn2c_integers s%d = {0}, t%d = {0};" or "attn2c_integers s%d = {0};", row, row)
  end
  self:each_row(function(row) return { self:start(row, half, part) } end)
  self:add("attn2c_words w%s%s;", block.planes[1] < 8 and ", low" or "", block.planes[2] > 0 and ", high" or "")
  local count = BLOCK // 4 // block.scales
  for number = part * count, (part + 1) * count - 1 do self:products(half, number, vector) end
  self:scales(half, part, vector)
  self:each_row(function(row)
    local sum = ("c%d_%d"):format(row, vector)
    return { ("%s = attn2c_multiply_add(attn2c_to_floats(%s),"):format(sum, self:ended(row, half, part)),
      ("  scale * attn2c_splat(b%d[%d].scale), %s);"):format(row, half, sum), block.minimum
        and ("%s = attn2c_multiply_add(least, attn2c_splat(b%d[%d].sum%s), %s);"):format(sum, row, half,
        block.scales == 2 and ("_half[%d]"):format(part) or "", sum) or nil }
  end)
end

-- Writes a pair of blocks.
function Strip:pair()
  self.step = 0
  if self.shape.fetches then
    self:add("const int asks = wait <= 0;")
    self:add("wait = (asks ? every : wait) - %d;", PAIR)
  end
  for row = 1, self.shape.rows - 1 do self:add("const attn2c_%s *b%d = b0 + %d * ld;", self.of_rows, row, row) end
  for half = 0, 1 do
    for part = 0, self.weights.scales - 1 do
      for vector = 0, self.vectors - 1 do
        self:block("", function() self:part(half, part, vector) end)
      end
    end
  end
end

--- Returns the function of strips as C.
function scaled.text(shape)
  local block = types.all[shape.types.a].block
  local self = setmetatable({ weights = block, places = places(block), vectors = shape.vectors,
    of_rows = shape.types.b, is_fine = shape.types.b == types.fine }, Strip):begin(shape)
  self:add("/* %s rows%s by %d vectors of outputs, weights of %s in scale blocks%s. */", self:rows_text(),
    self.is_fine and " of 15 bits" or "", shape.vectors, types.all[shape.types.a].weights,
    shape.fetches and ", prefetching a pair of blocks from `ahead` on every `every` inputs" or "")
  self:head(scaled.name(shape), shape.types, scaled.asks(shape), forms.all.f32)
  self:add("const ptrdiff_t ld = ldb / ATTN2C_SCALE_BLOCK;")
  self:add("const attn2c_%s *b0 = attn2c_%s(b);", self.of_rows, self.is_fine and "fine_blocks" or "blocks")
  self:add("(void)lda, (void)a_lanes, (void)ld;")
  if shape.fetches then self:add("int wait = 0;") end
  self:add("const attn2c_type_facts *facts = attn2c_facts_of(ATTN2C_%s);", shape.types.a:upper())
  if block.unit then
    self:add("const uint8_t *units = a;")
    self:add("a += attn2c_units_bytes(facts, (k + %d) / %d) * ATTN2C_SCALED_PANEL;", BLOCK - 1, BLOCK)
  end
  if block.values then self:add("const attn2c_words values = attn2c_values_load(facts);") end
  self:block(("for (int i = 0; i < k; i += %d, a += %d, b0 += 2)"):format(PAIR, self.places.pair), function()
    self:pair()
  end)
  return self:finish(forms.all.f32)
end

return scaled
