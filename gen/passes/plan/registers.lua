-- registers.lua: divides a product C[n][m] into strips whose sums stay in registers.
-- A strip of V vectors of outputs and R rows holds V R sums.
--
-- A step over k reads V vectors of A and R groups of B for V R multiply-adds. Processors make two of each in a cycle,
-- and a sum can take its next multiply-add four or five cycles later, so a step lasts as long as the largest of V R, V
-- + R and 9 multiply-adds. kernels/forms.lua has the differences by number types and instructions. If the target has
-- tiles for sums, strips have up to two tiles of rows and two of outputs, as there are eight tiles (kernels/tiles.lua).
local forms = require("kernels.forms")
local scaled = require("kernels.scaled")
local scaled_tiles = require("kernels.scaled_tiles")
local tiles = require("kernels.tiles")
local types = require("data.types")

local registers = {}

-- Cost of a strip in addition to its steps, in multiply-adds: loading and storing a sum, and the loop's beginning.
local PER_SUM, PER_STRIP = 2, 24

-- Cost of each further kind of strip: nearly nothing, except code.
local PER_KIND = 0.005

-- On targets with `spare`: the factor of the cost of a strip of f32 that leaves fewer registers free, and the cost of
-- reading a vector of A in a step.
local FULL, PER_READ = 1.02, 0.2

-- Loops of fewer steps may be unrolled; gcc 12 then takes a register more if the rows' floats stay in registers.
local UNROLLED = 16

-- The registers of a target on which constants stay in memory.
local FEW = 16

-- Returns the most rows of a strip of `vectors` vectors, and whether the rows' floats stay in registers. If they do,
-- the vectors come one after the other; that needs fewer registers if there are more vectors than rows. The rows of a
-- strip with open rows stay in memory.
local function most_rows(vectors, free, form, steps, is_open)
  local rows = (free - 1 - vectors * form.factors) // vectors
  local held = (free - form.factors - (steps < UNROLLED and 1 or 0)) // (vectors + 1)
  if not is_open and held > rows and held < vectors then return held, true end
  return rows, false
end

-- Returns the most registers of a strip whose steps have copies, between which it prefetches.
local function copied_registers(target) return target.registers - (target.spare or 1) end

-- Returns the registers that one of several strips should use at most, or nil.
local function usual_registers(target, form)
  return form.name == "f32" and target.spare and target.registers - target.spare or nil
end

-- Returns the cost of a strip. usual: as above.
local function cost_of_one(vectors, rows, rows_held, steps, form, usual)
  local parts, sums = #form.parts, vectors * rows
  local work = form.work * sums + form.a_work * vectors + form.b_work * rows + (sums < form.few and 1 or 0)
    + (rows_held and form.held_work or 0)
  local step = parts * math.max(work, vectors + rows, form.latency)
  if usual then step = (step + PER_READ * vectors) * ((rows + 1) * vectors + 1 > usual and FULL or 1) end
  return step * steps + PER_SUM * sums + PER_STRIP
end

-- Returns shares of n as equal as possible, as { count, size }, the larger first: the sizes of divide.blocks, of which
-- this makes no list, because the search asks for thousands.
local function shares(n, most)
  if n == 0 then return {} end
  local number = (n + most - 1) // most
  local size, larger = n // number, n % number
  if larger == 0 then return { { count = number, size = size } } end
  return { { count = larger, size = size + 1 }, { count = number - larger, size = size } }
end

-- Returns the strips in tiles of a product, or nil if the target has no tiles for it or its inputs do not fit:
-- rows and outputs that tiles hold, then the rest. n: nil if only a call knows the rows; strips are then of two tiles
-- of rows, and of one for the rest, and the tiles are configured for the rows of a strip.
local function tile_strips(m, n, k, target, most, product_types)
  local form, type, strips = forms.in_tiles(product_types, target), product_types.a, {}
  if not form or form.in_blocks or not tiles.fit(k, type) then return nil end
  if n then
    local high = math.min(2 * tiles.SIDE, most)
    if n >= high then strips[1] = { count = n // high, size = high } end
    if n % high > 0 then strips[#strips + 1] = { count = 1, size = n % high } end
  else
    strips = { { count = 1, size = 2 * tiles.SIDE }, { count = 1, size = tiles.SIDE } }
  end
  local vectors = (m + target.vector - 1) // target.vector
  return { groups = shares(vectors, 2), strips = strips, rows_held = false, once = vectors <= 2 or nil,
    form = form.name, step = tiles.step(k, type), block = tiles.block(k, type), is_open = not n or nil }
end

-- Returns one share of each size from `most` to `least`, by default 1.
local function each_size(most, least)
  local list = {}
  for size = most, least or 1, -1 do list[#list + 1] = { count = 1, size = size } end
  return list
end

-- Returns one share of `most`, and of each power of two below it: their sums are all numbers up to `most`.
local function powers_below(most)
  local list, size = { { count = 1, size = most } }, 1
  while size < most do
    table.insert(list, 2, { count = 1, size = size })
    size = 2 * size
  end
  return list
end

-- Returns the strips of a product whose weights are in scale blocks. In tiles, they have the rows of a tile; a product
-- of fewer rows has none. many: in an open product, the form of the strips from `many_rows` rows on. Strips of two
-- panels are joint (scaled.panels); products of few rows have strips of one panel.
local function strips_of_blocks(m, n, target, most, product_types, is_open)
  local vectors, is_pair = (m + target.vector - 1) // target.vector, m > types.SCALE_PANEL
  local in_tiles = product_types.b ~= types.fine and forms.in_tiles(product_types, target) or nil
  local single = math.min(most, scaled.most_rows(target, product_types.b, false, product_types.a))
  local rows = is_pair and math.min(most, scaled.most_rows(target, product_types.b, true, product_types.a)) or single
  local many = in_tiles and most >= scaled_tiles.ROWS and n >= scaled_tiles.ROWS
  local strips = { groups = { { count = 1, size = vectors } }, rows_held = false, joint = is_pair or nil,
    form = forms.of(product_types, target).name }
  strips.together = scaled.together_rows(target)
  local few = math.min(single, scaled.few_rows(product_types.b))
  local narrow = is_pair and { groups = { { count = vectors, size = 1 } }, rows_held = false, form = strips.form }
  if is_open then
    strips.strips, strips.is_open = each_size(rows, is_pair and (rows + 1) // 2), true -- of several strips
    if many then strips.many, strips.many_rows = in_tiles.name, scaled_tiles.ROWS end
    if is_pair then
      narrow.strips, narrow.above, narrow.upto, narrow.is_open = each_size(few), 0, few, true
      strips.tall = narrow
    end
  elseif many then
    strips.strips, strips.form = { { count = n // scaled_tiles.ROWS, size = scaled_tiles.ROWS } }, in_tiles.name
    if n % scaled_tiles.ROWS > 0 then strips.strips[2] = { count = 1, size = n % scaled_tiles.ROWS } end
  elseif is_pair and n <= few then
    narrow.strips = shares(n, few)
    return narrow
  else
    strips.strips = shares(n, rows)
  end
  return strips
end

--- Returns the registers that a strip may use for sums, vectors of A and groups of B. is_cut: whether rows of A end
--- within a vector; form: of kernels/forms.lua. Without fused multiply-adds, a product needs a register before it is
--- added.
function registers.free(target, is_cut, form)
  local product = target.has_fma and 0 or 1
  local more = form and (target.registers <= FEW and form.few_registers or form.registers) or 0
  return target.registers - math.max(product, more) - (is_cut and target.cut_registers or 0)
end

-- Returns the cost of all strips, groups of vectors by strips of rows, for each of `shared` rows.
local function cost_of_all(groups, strips, rows_held, steps, form, usual, shared)
  local sum = 0
  for _, vectors_of in ipairs(groups) do
    for _, rows_of in ipairs(strips) do
      sum = sum + vectors_of.count * rows_of.count
        * cost_of_one(vectors_of.size, rows_of.size, rows_held, steps, form, usual) / shared
    end
  end
  return sum * (1 + PER_KIND * (#groups * #strips - 1))
end

-- Returns the strips that cost least, of a product without tiles and scale blocks. n: nil if only a call knows the
-- rows; they are then chosen for many rows: strips of the rows that registers hold, by the cost of a row.
local function cheapest(m, n, k, target, most, is_cut, product_types)
  local form, group = forms.of(product_types, target), types.group(product_types.a)
  local total, rest = (m + target.vector - 1) // target.vector, m % target.vector
  local free, steps = registers.free(target, is_cut, form), (k + group - 1) // group
  local usual = usual_registers(target, form)
  local best, least
  for vectors = 1, math.min(total, target.registers // 2) do
    local above, rows_held = most_rows(vectors, free, form, steps, not n)
    local groups, rows = shares(total, vectors), math.min(above, most, n or most)
    for r = n and 1 or math.max(1, rows), rows do
      local strips = shares(n or r, r)
      local sum = cost_of_all(groups, strips, rows_held, steps, form, n and r < n and usual or nil, n and 1 or r)
      if not least or sum < least then
        best, least = { groups = groups, strips = strips, rows_held = rows_held }, sum
      end
    end
  end
  best.form, best.copied = form.name, copied_registers(target)
  best.half = target.has_halves and form.half and rest > 0 and rest <= target.vector // 2 or nil
  return best, usual
end

-- Returns the strips of a product that splits its panel (kernels/forms.lua), or nil if it does not. n: nil if only a
-- call knows the rows.
local function split_strips(m, n, k, target, most, is_cut, product_types)
  local split = forms.of(product_types, target).split
  local vectors = (m + target.vector - 1) // target.vector
  if not split or target.registers > FEW or is_cut or vectors ~= 2 or k > split.inputs or n and n < split.least then
    return nil
  end
  local rows = math.min(split.rows, most)
  return { groups = { { count = 1, size = vectors } }, strips = n and shares(n, rows) or each_size(rows),
    rows_held = false, form = split.form, copied = copied_registers(target), is_open = not n or nil,
    above = not n and split.least - 1 or nil }
end

--- Returns the strips of a product of m outputs, n rows and k inputs, at most `most` rows each: { groups = { { count,
--- size } } in vectors, strips = { { count, size } } in rows, rows_held, form: of kernels/forms.lua, half: whether
--- half of the last vector is enough, copied: the most registers of a strip with copies of its step; in tiles step:
--- the inputs of a step, block: of a K block, once: whether rows, which only one strip reads, leave the first-level
--- cache to the weights }. They are tiles if the target has them and they fit, else the cheapest strips. is_cut: as
--- above; product_types: of data/types.lua, by default f32's.
function registers.strips(m, n, k, target, most, is_cut, product_types)
  product_types = product_types or types.f32_product
  if forms.of(product_types, target).in_blocks then
    return strips_of_blocks(m, n, target, most, product_types, false)
  end
  return tile_strips(m, n, k, target, most, product_types)
    or split_strips(m, n, k, target, most, is_cut, product_types)
    or (cheapest(m, n, k, target, most, is_cut, product_types))
end

--- Returns the strips in tiles of a product of an attention of any length, whose rows only a call knows; nil if it has
--- none. open: of its outputs and inputs, those that only a call knows, too. The greatest length does not matter, so
--- that libraries of two greatest lengths give the same bits.
function registers.open_tiles(m, k, target, product_types, open)
  local form = forms.in_tiles(product_types, target)
  if not form then return nil end
  local is_open = open:find("k", 1, true) ~= nil
  if not (is_open or tiles.fit(k, product_types.a)) then return nil end
  local vectors = (m + target.vector - 1) // target.vector
  local step = is_open and tiles.open_step(product_types.a) or tiles.step(k, product_types.a)
  return { groups = open:find("m", 1, true) and powers_below(math.min(2, vectors)) or shares(vectors, 2),
    strips = { { count = 1, size = 2 * tiles.SIDE }, { count = 1, size = tiles.SIDE } }, rows_held = false,
    form = form.name, step = step, block = k, is_open = true }
end

--- Returns the strips of a product whose rows only a call knows, as above, with is_open: `strips` has one entry for
--- each number of rows that a strip may have; usual: the most rows of one of several strips. open_outputs: the outputs
--- are open too, and at most m; `groups` then has the most vectors and the powers of two below. They are not tiles.
function registers.open_strips(m, k, target, most, is_cut, product_types, open_outputs)
  if forms.of(product_types, target).in_blocks then
    return strips_of_blocks(m, most, target, most, product_types, true)
  end
  local found, usual = cheapest(m, nil, k, target, most, is_cut, product_types)
  local vectors, rows = found.groups[1].size, found.strips[1].size
  found.strips, found.is_open = each_size(rows), true
  found.usual = usual and math.max(1, math.min(rows, (usual - 1) // vectors - 1)) or rows
  if open_outputs then found.groups, found.half = powers_below(vectors), nil end
  return found
end

-- Returns the strips of an open panel for calls that need two of its usual strips, or nil if it has none: strips of one
-- vector and of all rows, of which a step's latency needs a least number. Two usual strips read the panel twice,
-- the second time from the second-level cache at nearly its rate. On a Zen 4, two strips of three vectors take 1.03 to
-- 1.15 times as long with 10 or 11 rows, and 1.01 to 1.02 times with 16. Two strips of two vectors take 1.005 times as
-- long with 15 to 26 rows, which is not worth the code of twelve tall ones.
local function tall_strips(strips, most)
  local group, above, list = strips.groups[1], strips.strips[1].size, {}
  local upto = strips.usual < above and math.min(most, 2 * strips.usual) or 0
  if #strips.groups > 1 or group.count > 1 or group.size < 3 or upto <= above
    or above < forms.all[strips.form].latency then
    return nil
  end
  for size = upto, above + 1, -1 do list[#list + 1] = { count = 1, size = size } end
  return { groups = { { count = group.size, size = 1 } }, strips = list, above = above, upto = upto, rows_held = false,
    form = strips.form, half = strips.half, is_open = true, copied = strips.copied }
end

--- Returns the strips of a panel of m outputs whose rows only a call knows: in tiles, or as above. tall: other strips
--- for calls of more rows than `above`, and of no more than `upto`, if that is given; nil: there are none.
function registers.open_panel(m, k, target, most, product_types)
  local strips = tile_strips(m, nil, k, target, most, product_types)
    or registers.open_strips(m, k, target, most, false, product_types, false)
  if strips.usual then -- not in tiles, nor of weights in scale blocks
    strips.tall = split_strips(m, nil, k, target, most, false, product_types) or tall_strips(strips, most)
  end
  return strips
end

return registers
