-- product.lua: a product C[n][m] = B[n][k] A[k][m], or C += B A, as the body of a C function: loops
-- over its strips, which ask for the weights of a later product where the plan says so. A of bf16 is
-- [ceil(k/2)][lda][2]; of int8 [2 + ceil(k/4)][lda][4], where the first rows are what sums may begin with.
local c = require("common.c")
local forms = require("kernels.forms")
local strip = require("kernels.strip")
local tiles = require("kernels.tiles")
local types = require("data.types")

local product = {}

-- The groups of a kernel, in vectors: { first, size, count, lanes: floats of the last vector, half: whether that
-- is multiplied as half a vector }. One whose last vector is not whole stands alone.
local function groups_of(kernel, lanes)
  local list, first = {}, 0
  local rest = kernel.m % lanes
  local groups = kernel.strips.groups
  for i, group in ipairs(groups) do
    local whole = group.count - (i == #groups and rest > 0 and 1 or 0)
    if whole > 0 then list[#list + 1] = { first = first, size = group.size, count = whole, lanes = lanes } end
    first = first + whole * group.size
    if whole < group.count then
      list[#list + 1] = { first = first, size = group.size, count = 1, lanes = rest, half = kernel.strips.half }
    end
    first = first + (group.count - whole) * group.size
  end
  return list
end

local function in_tiles(kernel) return forms.all[kernel.strips.form].in_tiles end

local function shape_of(kernel, rows, group)
  if in_tiles(kernel) then
    return { rows = rows.size, vectors = group.size, fetches = kernel.fetch ~= nil, form = kernel.strips.form,
      types = kernel.types, step = kernel.strips.step, rest = kernel.k % kernel.strips.step > 0 }
  end
  return { rows = rows.size, vectors = group.size, rows_held = kernel.strips.rows_held, fetches = kernel.fetch ~= nil,
    form = kernel.strips.form, types = kernel.types, cut = kernel.k % types.group(kernel.types.a) > 0,
    half = group.half }
end

-- What makes the strips of a shape.
local function maker(shape) return forms.all[shape.form].in_tiles and tiles or strip end

--- Calls visit(shape) for each kind of strip (strip.lua, tiles.lua) that a product needs; it may come more than once.
function product.each_strip(kernel, visit)
  for _, rows in ipairs(kernel.strips.strips) do
    for i, group in ipairs(kernel.strips.groups) do
      local half = kernel.strips.half and i == #kernel.strips.groups
      if not half or group.count > 1 then visit(shape_of(kernel, rows, group)) end
      if half then visit(shape_of(kernel, rows, { size = group.size, half = true })) end
    end
  end
end

--- The functions of the strips that products need, each once, as texts of C. kernels: a list, as of product.body.
function product.strips(kernels)
  local list, seen = {}, {}
  local function add(shape)
    local name = maker(shape).name(shape)
    if not seen[name] then list[#list + 1] = maker(shape).text(shape) end
    seen[name] = true
  end
  for _, kernel in ipairs(kernels) do product.each_strip(kernel, add) end
  return list
end

--- The files of the runtime that the strips of products need, in order.
function product.includes(kernels)
  local list, seen = { forms.all.f32.include }, { [forms.all.f32.include] = true }
  for _, kernel in ipairs(kernels) do
    local file = forms.all[kernel.strips.form].include
    if not seen[file] then list[#list + 1] = file end
    seen[file] = true
  end
  table.sort(list)
  return list
end

-- `pointer + first`, and what the loops over i and j add: lists of { symbol, count, step }.
local function behind(pointer, first, ...)
  local text = c.behind(pointer, first)
  for _, loop in ipairs { ... } do
    if loop.count > 1 then
      text = ("%s + %s"):format(text, loop.step == 1 and loop.symbol or loop.symbol .. " * " .. loop.step)
    end
  end
  return text
end

-- Appends `lines`, in a loop where it is worth one.
local function add_loop(list, symbol, count, lines)
  if count == 1 then
    for _, line in ipairs(lines) do list[#list + 1] = line end
    return
  end
  list[#list + 1] = ("for (int %s = 0; %s < %d; %s++) {"):format(symbol, symbol, count, symbol)
  for _, line in ipairs(lines) do list[#list + 1] = "  " .. line end
  list[#list + 1] = "}"
end

-- The loops over the strips of like rows, and of like groups of vectors: each a function of what one more adds.
local function loops_of(rows, group)
  return function(step) return { symbol = "i", count = rows.count, step = step } end,
    function(step) return { symbol = "j", count = group.count, step = step } end
end

-- A call of a strip, from a row of B and C on: `more` stands behind the sizes. The symbols of its loops are i and j. c:
-- what C is called; one_strip: whether all strips of rows write the same ones.
local function call_of(name, kernel, lanes, a, b, row, rows, group, more, c_name, one_strip)
  local i, j = loops_of(rows, group)
  local inputs, wide = types.group(kernel.types.a), group.size * lanes
  return {
    ("%s(%s, %s, %s,"):format(name, behind(a, group.first * lanes * inputs, j(wide * inputs)),
      behind(b, row * kernel.ldb, i(rows.size * kernel.ldb)),
      one_strip and behind(c_name, group.first * lanes, j(wide))
        or behind(c_name or "c", row * kernel.ldc + group.first * lanes, i(rows.size * kernel.ldc), j(wide))),
    ("  %d, %d, %d, %d, %s);"):format(kernel.k, kernel.lda, kernel.ldb, kernel.ldc, more) }
end

-- The body of a product in tiles, whose configuration is made once for each size of strips: rows come inside.
local function body_in_tiles(kernel, lanes, adds, a, b)
  local lines, fetch, of = {}, kernel.fetch, kernel.types
  local calls = 0
  local step = fetch and types.elements(fetch.each, of.a)
  for _, group in ipairs(groups_of(kernel, lanes)) do
    local row = 0
    for _, rows in ipairs(kernel.strips.strips) do
      local i, j = loops_of(rows, group)
      local ahead = fetch and (", %s, %d"):format(behind(a, types.elements(fetch.from, of.a) + calls * step,
        i(group.count * step), j(step)), fetch.lines) or ""
      local of_rows = {}
      add_loop(of_rows, "j", group.count, call_of(tiles.name(shape_of(kernel, rows, group)), kernel, lanes, a, b, row,
        rows, group, ("%s, %s%s"):format(adds, group.lanes, ahead)))
      local outputs = (group.size - 1) * lanes + group.lanes
      lines[#lines + 1] = tiles.configure(rows.size, outputs, kernel.strips.step, of.a)
      add_loop(lines, "i", rows.count, of_rows)
      row, calls = row + rows.count * rows.size, calls + rows.count * group.count
    end
  end
  lines[#lines + 1] = tiles.release
  return lines
end

--- The body as lines of C. kernel: { m, n, k, ldb, ldc in elements, lda in outputs; types; strips (plan/registers.lua);
--- a_room: whether rows of A may be read up to a whole vector; fetch (plan/tile.lua: ahead) }. lanes: floats of a
--- vector; adds: a C expression: whether C is added to; a, b: what A and B are called. behind_strip: nil, or { c: what
--- C is called; one_strip: whether it has the rows of one strip alone; line: function(first, rows), what is done with
--- the rows of C that a strip has made, the first a C expression; before: the same, a list of lines before the strip };
--- not of tiles.
function product.body(kernel, lanes, adds, a, b, behind_strip)
  if in_tiles(kernel) then return body_in_tiles(kernel, lanes, adds, a, b) end
  local lines, row, calls, fetch, more = {}, 0, 0, kernel.fetch, behind_strip or {}
  for _, rows in ipairs(kernel.strips.strips) do
    local of_rows, done, each_row = {}, 0, 0
    for _, group in ipairs(kernel.strips.groups) do each_row = each_row + group.count end
    for _, group in ipairs(groups_of(kernel, lanes)) do
      local ahead = ""
      if fetch then
        local i, j = loops_of(rows, group)
        local step = types.elements(fetch.each, kernel.types.a)
        ahead = (", %s, %d, %d"):format(behind(a, types.elements(fetch.from, kernel.types.a)
          + (calls + done) * step, i(each_row * step), j(step)), fetch.every, fetch.lines)
      end
      add_loop(of_rows, "j", group.count, call_of(strip.name(shape_of(kernel, rows, group)), kernel, lanes, a, b, row,
        rows, group, ("%s, %s, %s%s"):format(adds, kernel.a_room and "ATTN2C_LANES" or group.lanes, group.lanes,
          ahead), more.c, more.one_strip))
      done = done + group.count
    end
    if more.line then
      local from = rows.count > 1 and ("(size_t)i * %d"):format(rows.size) or "0"
      if row > 0 then from = rows.count > 1 and ("%d + %s"):format(row, from) or tostring(row) end
      for at, text in ipairs(more.before(from, rows.size)) do table.insert(of_rows, at, text) end
      of_rows[#of_rows + 1] = more.line(from, rows.size)
    end
    add_loop(lines, "i", rows.count, of_rows)
    row, calls = row + rows.count * rows.size, calls + rows.count * each_row
  end
  return lines
end

return product
