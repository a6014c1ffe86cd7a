-- scaled.lua: writes the C function of strips whose weights are integers in scale blocks.
-- A strip has some rows by all vectors of a panel. It goes over pairs of blocks, 64 inputs. For each block it adds
-- exact integers, and multiplies their sum by the scales of the block and of the row's block
-- (runtime/ops/product/scaled.h).
--
-- A joint strip takes two panels of one vector at a time, which share what is loaded of a row, and so do both vectors
-- of a panel that are taken together. Others take one vector after the other. Each sum has the same order in all.
local forms = require("kernels.forms")
local types = require("data.types")
local append = require("common.words").append
local Writer = require("kernels.writer")

local scaled = {}

local BLOCK, PAIR, PANEL = types.SCALE_BLOCK, types.SCALE_PAIR, types.SCALE_PANEL

-- The most bits of integers whose products are added in 16 bits (runtime/ops/product/scaled.h). Other integers, and
-- values of a table, are bytes + 128.
local SMALL = 4

-- True if strips of a type may be joint. Where vpdpbusd has vectors of 16 outputs, a strip of one vector loads as often
-- as it multiplies: an input of each row for each of its products. A joint strip has fewer rows. So it gains nothing if
-- the integers take many instructions to widen, or blocks have two scales. Two panels of 8 bits leave the first-level
-- cache: strips of nine rows then take 1.25 times as long, and 14 rows of 8,192 inputs 1.4 times.
local function may_join(target, type)
  local block = types.all[type].block
  return target.vector == PANEL and target.int8 == "quads" and not target.has_tiles
    and block and block.bits == SMALL and block.scales == 1 and not block.values
end

--- Returns the panels that a product takes at a time: its weights' panels, or { panel, widths, pairs_of: its weights'
--- panels }, where two are one for joint strips.
function scaled.panels(panels, target)
  if not may_join(target, panels.type) then return panels end
  local widths, list = {}, panels.widths
  for i, width in ipairs(list) do
    local is_second = width == PANEL and widths[#widths] == PANEL and list[i - 1] == PANEL
    if is_second then widths[#widths] = 2 * PANEL else widths[#widths + 1] = width end
  end
  if #widths == #list then return panels end
  return setmetatable({ panel = 2 * PANEL, widths = widths, pairs_of = panels }, { __index = panels })
end

--- Returns the most rows of a strip on a target: its sums, and the integers of the vectors that it takes at a time,
--- stay in registers. rows: their type; fine ones have two integers. type: of the weights. With vpdpbusd, integers of
--- 8 bits are read by one strip up to twelve rows: two took 1.15 times as long from 9 to 11. Types with two scales and
--- planes leave no registers for that: 12 rows of Q6_K took 1.2 times as long. Types of 4 bits have joint strips.
function scaled.most_rows(target, rows, is_joint, type)
  if is_joint then return rows == types.fine and 4 or 6 end
  if target.registers >= 32 then
    local block = types.all[type].block
    local is_wide = block.bits > SMALL or block.values
    local fits = is_wide and (block.scales == 1 or block.bits == 8) and rows ~= types.fine
    if target.vector < PANEL then return 4 end
    return fits and target.int8 == "quads" and not target.has_tiles and 12 or 8
  end
  return target.vector == PANEL // 2 and rows ~= types.fine and 4 or 2
end

--- Returns the most rows of a product that takes its panels one after the other where others take two at a time. rows:
--- their type. Five to eight rows take 0.85 to 0.98 of the time as joint strips, and 3 to 8 fine rows 0.88 to 0.98.
--- Seven rows of weights with minima take 1.0 to 1.06 times as long.
function scaled.few_rows(rows) return rows == types.fine and 2 or 4 end

--- Returns the least rows of a strip that takes both vectors of a panel at a time, which share what is loaded of a row,
--- on a target; nil: each takes one after the other. The integers of four rows then take the registers, and their sums
--- are in memory from block to block. One row takes up to 1.4 times as long so, two 1.1 times. Strips of fine rows have
--- fewer than three.
function scaled.together_rows(target)
  return target.int8 == "signs" and target.vector == PANEL // 2 and 3 or nil
end

--- Returns the shape and the strips of one panel, of a product of several that come one after the other.
function scaled.each_panel(shape, strips)
  local count = types.all[shape.types.a].block and strips.groups[1].count or 1
  if count == 1 then return shape, strips end
  return setmetatable({ lda = shape.lda // count }, { __index = shape }),
    setmetatable({ groups = { { count = 1, size = 1 } } }, { __index = strips })
end

--- Returns the name of a function of strips, which differ only in their rows. shape: { rows: the most, least: the
--- fewest, nil: the same, vectors, joint: whether each is a panel, together: whether a panel's are taken at a time,
--- types, fetches: whether it prefetches weights }.
function scaled.name(shape)
  return ("strip_x%d_%s%s%s%s"):format(shape.vectors, shape.types.a, shape.types.b == types.fine and "_fine" or "",
    shape.joint and "_joint" or shape.together and "_together" or "", shape.fetches and "_ahead" or "")
end

--- Returns the parameters of such a function that say how it prefetches: { type, name }.
function scaled.asks(shape)
  return shape.fetches and { { "const void *", "ahead" }, { "int ", "pace" } } or {}
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

-- Returns `pointer + bytes`, and an offset of a number of elements of `each` bytes for a vector, or of a panel.
function Strip:at(pointer, bytes, vector, each)
  local text = pointer .. (bytes > 0 and " + " .. bytes or "")
  if self.shape.joint then return vector == 0 and text or text .. " + apart" end
  return vector == 0 and text or ("%s + %s"):format(text, vector * each == 1 and "ATTN2C_LANES"
    or ("%d * ATTN2C_LANES"):format(vector * each))
end

-- Returns the name of what each of the vectors that are taken at a time has.
function Strip:of(name, vector) return #self.turns == 1 and self.vectors > 1 and name .. "_" .. vector or name end

-- Prefetches the lines of a step; returns whether there are any. The steps of a pair make a request for each of its
-- lines, at equal distances: a processor that is asked for all of a block at once takes up to 1.25 times as long. One
-- of several strips asks for a line several times. With conditions that leave requests out, strips of up to eight rows
-- took 1.02 to 1.06 times as long.
function Strip:ask()
  local lines, steps = types.pair_lines(self.panel, self.shape.types.a), 2 * (BLOCK // 4) * self.vectors
  local count = (self.step + 1) * lines // steps - self.step * lines // steps
  self.step = self.step + 1
  if not self.shape.fetches or count == 0 then return false end
  self:add("ahead = attn2c_ask_share(ahead, %d, pace);", count)
  return true
end

-- Writes the load of a plane's words, if the four inputs `number` are the first of the words or of the part of a block.
-- bits: of the plane; begin: its place.
function Strip:load_plane(name, bits, begin, number, vector)
  if number * bits % 8 > 0 and number % (BLOCK // 4 // self.weights.scales) > 0 then return end
  self:add("%s = attn2c_words_load(%s);", name, self:at("a", begin + number * bits // 8 * 4 * PANEL, vector, 4))
end

-- Writes the integers of four inputs of a vector of outputs. number: of these four in the block.
function Strip:integers(half, number, vector)
  local block, begin = self.weights, self.places.words(half)
  local w, low, high = self:of("w", vector), self:of("low", vector), self:of("high", vector)
  local low_bits, high_bits = table.unpack(block.planes)
  if low_bits == 8 then return self:load_plane(w, low_bits, begin, number, vector) end
  self:load_plane(low, low_bits, begin, number, vector)
  local text = ("attn2c_plane(%s, %d, %d, 0)"):format(low, number * low_bits % 8, low_bits)
  if high_bits > 0 then
    self:load_plane(high, high_bits, begin + BLOCK * low_bits // 8 * PANEL, number, vector)
    text = ("%s | attn2c_plane(%s, %d, %d, %d)"):format(text, high, number * high_bits % 8, high_bits, low_bits)
  end
  if block.values then
    text = ("attn2c_values(values, %s)"):format(text)
  elseif width_of(block) == 8 then
    text = ("(%s) + 0x%02xu * 0x01010101u"):format(text, 128 - (block.minimum and 0 or 1 << block.bits - 1))
  end
  self:add("%s = %s;", w, text)
end

-- Adds the lines that multiply four inputs of a row, in a register, by the weights of all vectors.
function Strip:joint_products(lines, place, sums, row)
  lines[#lines + 1] = ("x = attn2c_words_splat(%s);"):format(place)
  lines[#lines + 1] = "ATTN2C_HOLD(x);"
  for vector = 0, self.vectors - 1 do
    local sum = self:of(sums .. row, vector)
    lines[#lines + 1] = ("%s = attn2c_int8_quads(x, %s, %s);"):format(sum, self:of("w", vector), sum)
  end
end

-- Returns the lines that add the products of four inputs of a row to its sums.
function Strip:products_of_row(half, number, row)
  local width, place = width_of(self.weights), ("b%d[%d].x"):format(row, half)
  if self.shape.joint then
    local lines = {}
    self:joint_products(lines, ("%s + %d"):format(place, 4 * number), "s", row)
    if self.is_fine then self:joint_products(lines, ("%s + %d"):format(place, BLOCK + 4 * number), "t", row) end
    return lines
  elseif self.shape.together then
    local lines = { ("x = attn2c_words_splat(%s + %d);"):format(place, 4 * number) }
    for vector = 0, self.vectors - 1 do
      local sum = self:of("s" .. row, vector)
      lines[vector + 2] = ("%s = attn2c_scaled%d_words(%s, x, %s, rows > 1);"):format(sum, width,
        self:of("w", vector), sum)
    end
    return lines
  elseif self.is_fine then
    return { ("attn2c_fine%d_add(w, %s, %d, &s%d, &t%d, rows > 1);"):format(width, place, number, row, row) }
  end
  return { ("s%d = attn2c_scaled%d_add(w, %s + %d, s%d, rows > 1);"):format(row, width, place, 4 * number, row) }
end

-- Adds the products of four inputs of each row to the sums of some vectors. number: of these four in the block.
function Strip:products(half, number, vectors)
  for _, vector in ipairs(vectors) do
    local asked = self:ask()
    self:integers(half, number, vector)
    if asked then
      self:add("ATTN2C_HOLD_BOTH(%s, ahead);", self:of("w", vector))
    elseif self.shape.rows > 1 then
      self:add("%sATTN2C_HOLD(%s);", self.least > 1 and "" or "if (rows > 1) ", self:of("w", vector))
    end
  end
  self:each_row(function(row) return self:products_of_row(half, number, row) end)
end

-- Returns the start of a row's integers, as C.
function Strip:start(row, half, part, vector)
  local zero, bits = self:zero(row, half, part), width_of(self.weights)
  if self.is_fine then return ("%s = attn2c_integers_splat(%s);"):format(self:of("t" .. row, vector), zero) end
  return ("%s = attn2c_scaled%d_begin(%s);"):format(self:of("s" .. row, vector), bits, zero)
end

-- Returns the integers of a row's part of a block, as C.
function Strip:ended(row, half, part, vector)
  local bits, sum = width_of(self.weights), self:of("s" .. row, vector)
  if self.is_fine then return ("attn2c_fine_end(%s, %s)"):format(sum, self:of("t" .. row, vector)) end
  return ("attn2c_scaled%d_end(%s%s)"):format(bits, sum, bits == SMALL and ", " .. self:zero(row, half, part) or "")
end

-- Writes the load of the scales of a part of a block, and of the minima if there are any.
function Strip:scales(half, part, vector)
  local block, place = self.weights, self.places
  local scale, least = self:of("scale", vector), self:of("least", vector)
  local function from(bytes) return self:at("a", bytes, vector, block.scale_bytes) end
  self:add("attn2c_vector %s%s;", scale, block.minimum and ", " .. least or "")
  self:add("attn2c_scales_load(facts, %s, %s, %s, &%s, %s);", from(place.scale(half, part)),
    block.minimum_bytes > 0 and from(place.minimum(half, part)) or "NULL",
    block.unit and self:at(("units + i / %d * %d"):format(types.SCALE_UNIT, block.unit_bytes * PANEL), 0, vector, 2)
    or "NULL", scale, block.minimum and "&" .. least or "NULL")
end

-- Adds the part of a block that shares a scale to the sums of some vectors.
function Strip:part(half, part, vectors)
  local block = self.weights
  -- gcc would keep the inputs of all rows in memory, from one vector to the next.
  if self.vectors > #vectors then
    self:each_row(function(row) return { ("ATTN2C_AGAIN(b%d);"):format(row) } end)
  end
  local function each_vector(text_of)
    return self.join(#vectors, " ", function(i) return text_of(vectors[i + 1]) end)
  end
  for row = 0, self.shape.rows - 1 do
    self:add("%s", each_vector(function(vector)
      return ("attn2c_integers %s = {0}%s;"):format(self:of("s" .. row, vector),
        self.is_fine and (", %s = {0}"):format(self:of("t" .. row, vector)) or "")
    end))
  end
  self:each_row(function(row)
    return { each_vector(function(vector) return self:start(row, half, part, vector) end) }
  end)
  if self.shape.joint or self.shape.together then self:add("attn2c_words x;") end
  for _, vector in ipairs(vectors) do
    self:add("attn2c_words %s%s%s;", self:of("w", vector), block.planes[1] < 8 and ", " .. self:of("low", vector) or "",
      block.planes[2] > 0 and ", " .. self:of("high", vector) or "")
  end
  local count = BLOCK // 4 // block.scales
  for number = part * count, (part + 1) * count - 1 do self:products(half, number, vectors) end
  for _, vector in ipairs(vectors) do self:scales(half, part, vector) end
  self:each_row(function(row)
    local lines = {}
    for _, vector in ipairs(vectors) do
      local sum = ("c%d_%d"):format(row, vector)
      lines[#lines + 1] = ("%s = attn2c_multiply_add(attn2c_to_floats(%s),"):format(sum,
        self:ended(row, half, part, vector))
      lines[#lines + 1] = ("  %s * attn2c_splat(b%d[%d].scale), %s);"):format(self:of("scale", vector), row, half, sum)
      if block.minimum then
        lines[#lines + 1] = ("%s = attn2c_multiply_add(%s, attn2c_splat(b%d[%d].sum%s), %s);"):format(sum,
          self:of("least", vector), row, half, block.scales == 2 and ("_half[%d]"):format(part) or "", sum)
      end
    end
    return lines
  end)
end

function Strip:pair()
  self.step = 0
  for row = 1, self.shape.rows - 1 do self:add("const attn2c_%s *b%d = b0 + %d * ld;", self.of_rows, row, row) end
  for half = 0, 1 do
    for part = 0, self.weights.scales - 1 do
      for _, vectors in ipairs(self.turns) do
        self:block("", function() self:part(half, part, vectors) end)
      end
    end
  end
end

--- Returns the function of strips as C.
function scaled.text(shape)
  local block, pair = types.all[shape.types.a].block, types.pair_bytes(PANEL, shape.types.a)
  local self = setmetatable({ weights = block, places = places(block), vectors = shape.vectors, turns = {},
    panel = shape.joint and shape.vectors * PANEL or PANEL, of_rows = shape.types.b,
    is_fine = shape.types.b == types.fine }, Strip):begin(shape)
  for vector = 0, shape.vectors - 1 do
    local turn = (shape.joint or shape.together) and 1 or vector + 1
    self.turns[turn] = append(self.turns[turn] or {}, { vector })
  end
  self:add("/* %s rows%s by %d vectors of outputs%s, weights of %s in scale blocks%s. */", self:rows_text(),
    self.is_fine and " of 15 bits" or "", shape.vectors, shape.joint and " of two panels" or "",
    types.all[shape.types.a].weights,
    shape.fetches and ", prefetching from `ahead` on, `pace` bytes from request to request" or "")
  self:head(scaled.name(shape), shape.types, scaled.asks(shape), forms.all.f32)
  self:add("const ptrdiff_t ld = ldb / ATTN2C_SCALE_BLOCK;")
  self:add("const attn2c_%s *b0 = attn2c_%s(b);", self.of_rows, self.is_fine and "fine_blocks" or "blocks")
  self:add("(void)lda, (void)a_lanes, (void)ld;")
  self:add("const attn2c_type_facts *facts = attn2c_facts_of(ATTN2C_%s);", shape.types.a:upper())
  local units = ("attn2c_units_bytes(facts, (k + %d) / %d) * ATTN2C_SCALED_PANEL"):format(BLOCK - 1, BLOCK)
  if shape.joint then
    self:add("const ptrdiff_t apart = (k + %d) / %d * %d%s;", PAIR - 1, PAIR, pair, block.unit and " + " .. units or "")
  end
  if block.unit then
    self:add("const uint8_t *units = a;")
    self:add("a += %s;", units)
  end
  if block.values then self:add("const attn2c_words values = attn2c_values_load(facts);") end
  self:block(("for (int i = 0; i < k; i += %d, a += %d, b0 += 2)"):format(PAIR, self.places.pair), function()
    self:pair()
  end)
  return self:finish(forms.all.f32)
end

return scaled
