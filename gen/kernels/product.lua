-- product.lua: writes the body of a matrix product C[n][m] = B[n][k] A[k][m], or C += B A, as C text.
-- The body loops over strips, which prefetch the weights of a later product if the plan says so. A of bf16 is
-- [ceil(k/2)][lda][2]; A of int8 is [2 + ceil(k/4)][lda][4], where the first rows hold values that sums may begin with.
local c = require("common.c")
local forms = require("kernels.forms")
local lines_of_c = require("kernels.lines")
local open = require("kernels.open")
local operands = require("data.operands")
local scaled = require("kernels.scaled")
local scaled_tiles = require("kernels.scaled_tiles")
local strip = require("kernels.strip")
local tiles = require("kernels.tiles")
local types = require("data.types")
local Writer = require("kernels.writer")

local product = {}

-- Returns the groups of a kernel, in vectors: { first, size, count, lanes: floats of the last vector, half: whether
-- that is multiplied as half a vector }. A group whose last vector is not whole has an entry of its own.
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

-- Returns a kernel whose strips read the panel that its lines split before them, and these lines; else the kernel and
-- no lines. a: the name of A.
local function split(kernel, a)
  local form = forms.all[kernel.strips.form]
  if not form.signs then return kernel, {} end
  local groups = (kernel.k + types.group(kernel.types.a) - 1) // types.group(kernel.types.a)
  return setmetatable({ lda = 2 * form.signs, split = "split" }, { __index = kernel }), {
    ("int8_t split[%d] __attribute__((aligned(64)));"):format(types.panel_bytes(kernel.k, 2 * form.signs,
      kernel.types.a)),
    ("%s(%s, %d, %d, split);"):format(form.splits, a, kernel.lda, groups) }
end

local function in_tiles(kernel) return forms.all[kernel.strips.form].in_tiles end

local function shape_of(kernel, rows, group)
  if in_tiles(kernel) then
    return { rows = rows.size, vectors = group.size, fetches = kernel.fetch and true or false,
      form = kernel.strips.form, types = kernel.types, step = kernel.strips.step,
      once = kernel.strips.once, rest = kernel.k % kernel.strips.step > 0 or operands.named(kernel).k == "k",
      some = kernel.open ~= nil }
  end
  local fetch = open.prefetches(kernel, rows) and kernel.fetch
  if forms.all[kernel.strips.form].in_blocks then
    return { rows = rows.size, vectors = group.size, joint = kernel.strips.joint,
      together = rows.size >= (kernel.strips.together or math.huge), fetches = fetch and true or false,
      form = kernel.strips.form, types = kernel.types }
  end
  local inputs, is_open = types.group(kernel.types.a), operands.named(kernel).k == "k"
  local near, form = fetch and fetch.near ~= nil, forms.all[kernel.strips.form]
  local streams = fetch and fetch.by_strips ~= nil and not form.paced
  local fetches = fetch and not near and not streams or false
  local sums = rows.size * group.size
  local used = 1 + sums + (kernel.strips.rows_held and rows.size or group.size)
  local is_full = form.few_registers and used + form.registers > kernel.strips.copied + 1
  return { rows = rows.size, vectors = group.size, rows_held = kernel.strips.rows_held,
    fetches = fetches, streams = streams, near = near, form = kernel.strips.form, types = kernel.types,
    full = is_full, copies = used <= kernel.strips.copied and sums <= (form.copied or sums)
      and (#form.parts == 1 or is_full),
    cut = is_open and inputs > 1 or not is_open and kernel.k % inputs > 0,
    some = is_open and inputs > 1, half = group.half,
    rest = fetches and form.paced and (is_open or kernel.k % (strip.EVERY * inputs) >= inputs) or nil }
end

-- Returns the module that writes the strips of a shape.
local function maker(shape)
  local form = forms.all[shape.form]
  return form.in_tiles and tiles or form.takes_tiles and scaled_tiles or form.in_blocks and scaled or strip
end

-- Returns the name of a strip's function. is_whole: in tiles, whether its inputs are whole steps whatever the kernel's
-- are.
local function name_of(kernel, rows, group, is_whole)
  local shape = shape_of(kernel, rows, group)
  if is_whole then shape.rest = false end
  return maker(shape).name(shape)
end

-- Returns the kinds of groups of a kernel's vectors, { size, half }: half of the last vector may be enough.
local function kinds_of_groups(kernel)
  local list, groups = {}, kernel.strips.groups
  for i, group in ipairs(groups) do
    local half = kernel.strips.half and i == #groups
    if not half or group.count > 1 then list[#list + 1] = { size = group.size } end
    if half then list[#list + 1] = { size = group.size, half = true } end
  end
  return list
end

--- Calls visit(shape) for each kind of strip (strip.lua, tiles.lua) that a product needs; a kind may come more than
--- once.
function product.each_strip(kernel, visit)
  if kernel.strips.tall then
    local both = open.kernels(kernel)
    product.each_strip(both[2], visit)
  end
  local many = kernel.strips.many or kernel.strips.form
  if forms.all[many].takes_tiles then visit { form = many, types = kernel.types } end
  for _, rows in ipairs(forms.all[kernel.strips.form].takes_tiles and {} or kernel.strips.strips) do
    for _, group in ipairs(kinds_of_groups(kernel)) do
      visit(shape_of(kernel, rows, group))
      if in_tiles(kernel) and kernel.strips.block < kernel.k then -- K blocks before the last have whole steps
        local shape = shape_of(kernel, rows, group)
        shape.rest = false
        visit(shape)
      end
    end
  end
end

-- Returns the function that calls one of the strips of an open product's group of vectors by their rows: { name, asks:
-- its parameters for prefetching, text: nil if all strips have one number of rows }.
local function choice_of(kernel, group)
  local list, cases = kernel.strips.strips, {}
  local widest = shape_of(kernel, list[1], group)
  local asked = maker(widest).asks(widest)
  if #list == 1 then return { name = maker(widest).name(widest), asks = asked } end
  for i, rows in ipairs(list) do
    local shape = shape_of(kernel, rows, group)
    local asks = {}
    for at, ask in ipairs(maker(shape).asks(shape)) do asks[at] = ", " .. ask[2] end
    cases[i] = ("  case %d: %s(%d, a, b, c, k, lda, ldb, ldc, adds, a_lanes, c_lanes%s); break;"):format(rows.size,
      maker(shape).name(shape), rows.size, table.concat(asks))
  end
  local of, least = kernel.types, list[#list].size
  local kind = setmetatable({ copies = true, full = false }, { __index = widest })
  local name = ("strips_%d_to_%d%s"):format(least, list[1].size, maker(kind).name(kind):match("^strip(.*)$"))
  return { name = name, asks = asked, text = ([[
/* A strip of %d to %d rows. */
ATTN2C_STRIP %s(size_t rows, const %s *a, const %s *b, %s *c, int k, ptrdiff_t lda,
    ptrdiff_t ldb, ptrdiff_t ldc, int adds, int a_lanes, int c_lanes%s) {
  switch (rows) {
%s
  default: break;
  }
}]]):format(least, list[1].size, name, types.c(of.a), types.c(of.b), types.c(of.c),
    Writer.asks_text(asked), table.concat(cases, "\n")) }
end

--- Returns the C functions of the strips that products need, each once, and of the choices among strips, as texts.
--- kernels: a list, as for product.body.
function product.strips(kernels)
  local shapes, by_name, texts, chosen = {}, {}, {}, {}
  for _, kernel in ipairs(kernels) do
    product.each_strip(kernel, function(shape)
      local name = maker(shape).name(shape)
      local known = by_name[name]
      if not known then
        shapes[#shapes + 1], by_name[name] = shape, shape
        shape.least = shape.rows
      elseif shape.rows then
        known.rows, known.least = math.max(known.rows, shape.rows), math.min(known.least, shape.rows)
      end
    end)
  end
  for i, shape in ipairs(shapes) do texts[i] = maker(shape).text(shape) end
  for _, kernel in ipairs(kernels) do
    for _, each in ipairs(kernel.open and not in_tiles(kernel) and open.kernels(kernel) or {}) do
      for _, group in ipairs(kinds_of_groups(each)) do
        local choice = choice_of(each, group)
        if not chosen[choice.name] then texts[#texts + 1] = choice.text end
        chosen[choice.name] = true
      end
    end
  end
  return texts
end

--- Returns the runtime's files that the strips of products include, sorted.
function product.includes(kernels)
  local list, seen = { forms.all.f32.include }, { [forms.all.f32.include] = true }
  for _, kernel in ipairs(kernels) do
    for _, form in ipairs { kernel.strips.form, kernel.strips.many } do
      local file = forms.all[form].include
      if not seen[file] then list[#list + 1] = file end
      seen[file] = true
    end
  end
  table.sort(list)
  return list
end

--- Returns `pointer + first`, plus the terms of loops: lists of { symbol, count, step }.
function product.address(pointer, first, ...)
  local text = c.plus(pointer, first)
  for _, loop in ipairs { ... } do
    if loop.count > 1 then
      text = ("%s + %s"):format(text, loop.step == 1 and loop.symbol or loop.symbol .. " * " .. loop.step)
    end
  end
  return text
end

local address = product.address

local function add_loop(list, symbol, count, lines)
  lines_of_c.append(list, count == 1 and lines
    or lines_of_c.block(("for (int %s = 0; %s < %d; %s++)"):format(symbol, symbol, count, symbol), lines))
end

-- Returns two functions from a step in elements to a loop: over strips with the same rows, and over equal groups of
-- vectors.
local function loops_of(rows, group)
  return function(step) return { symbol = "i", count = rows.count, step = step } end,
    function(step) return { symbol = "j", count = group.count, step = step } end
end

-- Returns the first row of strip `i` of those from `row` on, as C.
local function first_row(rows, row)
  local from = rows.count > 1 and ("(size_t)i * %d"):format(rows.size) or "0"
  if row == 0 then return from end
  return rows.count > 1 and ("%d + %s"):format(row, from) or tostring(row)
end

-- Returns the call of a strip from a row of B and C on, as lines. `more` holds the arguments after the sizes. The
-- symbols of the call's loops are i and j. c_name: the name of C; one_strip: whether all strips of rows write the
-- same rows of C, or "group": all strips the same place.
local function call_of(name, kernel, lanes, a, b, row, rows, group, more, c_name, one_strip)
  local i, j = loops_of(rows, group)
  local inputs, wide = types.apart(kernel.k, kernel.types.a), group.size * lanes
  return {
    ("%s(%d, %s, %s, %s,"):format(name, rows.size,
      address(kernel.split or a, group.first * lanes * inputs, j(wide * inputs)),
      address(b, row * kernel.ldb, i(rows.size * kernel.ldb)),
      one_strip and (one_strip == "group" and c_name or address(c_name, group.first * lanes, j(wide)))
        or address(c_name or "c", row * kernel.ldc + group.first * lanes, i(rows.size * kernel.ldc), j(wide))),
    ("  %d, %d, %d, %d, %s);"):format(kernel.k, kernel.lda, kernel.ldb, kernel.ldc, more) }
end

-- Returns the arguments of a strip in tiles that say how it prefetches, or nothing. place: what its call adds to A.
local function tiles_ahead(fetch, a, place)
  if not fetch then return "" end
  return (", (const char *)(%s) + %s, %d, %d, %d"):format(a, place, fetch.apart, fetch.lines, fetch.run)
end

-- Returns the body of a product in tiles. Tiles are configured once for each size of strips, so the loops over K blocks
-- and rows are inside.
local function body_in_tiles(kernel, lanes, adds, a, b)
  local lines, fetch, of, done = {}, kernel.fetch, kernel.types, 0
  local inputs, step = types.group(of.a), kernel.strips.step
  for _, group in ipairs(groups_of(kernel, lanes)) do
    local row = 0
    for _, rows in ipairs(kernel.strips.strips) do
      local outputs, wide = (group.size - 1) * lanes + group.lanes, group.size * lanes
      lines[#lines + 1] = tiles.configure(rows.size, outputs, step, of.a)
      for _, block in ipairs(tiles.blocks(kernel.k, rows.count > 1 and kernel.strips.block or kernel.k, step)) do
        local shape = shape_of(kernel, rows, group)
        shape.rest = block.inputs % step > 0
        local i, j = loops_of(rows, group)
        local function over_blocks(each) return { symbol = "block", count = block.count, step = each } end
        local steps = block.inputs // step
        local each = fetch and steps * fetch.run * types.LINE
        local ahead = tiles_ahead(fetch, a, fetch and address(tostring(fetch.from + done), 0,
          over_blocks(rows.count * group.count * each), i(group.count * each), j(each)))
        local is_first = block.first == 0
        local added = is_first and block.count == 1 and adds
          or is_first and ("block ? 2 : %s"):format(adds) or "2"
        local calls, of_rows, of_blocks = {}, {}, {}
        add_loop(calls, "j", group.count, {
          ("%s(%s, %s, %s,"):format(tiles.name(shape),
            address(a, group.first * lanes * inputs + block.first * kernel.lda,
            over_blocks(block.inputs * kernel.lda), j(wide * inputs)),
            address(b, row * kernel.ldb + block.first, over_blocks(block.inputs), i(rows.size * kernel.ldb)),
            address("c", row * kernel.ldc + group.first * lanes, i(rows.size * kernel.ldc), j(wide))),
          ("  %d, %d, %d, %d, %s, %s%s);"):format(block.inputs, kernel.lda, kernel.ldb, kernel.ldc, added, group.lanes,
            ahead) })
        add_loop(of_rows, "i", rows.count, calls)
        add_loop(of_blocks, "block", block.count, of_rows)
        lines_of_c.append(lines, of_blocks)
        done = done + (fetch and block.count * rows.count * group.count * each or 0)
      end
      row = row + rows.count * rows.size
    end
  end
  return lines
end

--- Returns the lines of a loop over strips of rows, shares { count, size }. calls_of(rows, row, number) returns those
--- of share `number`, from a row on; after_strip: as for product.body.
function product.over_rows(shares, after_strip, calls_of)
  local lines, row = {}, 0
  for number, rows in ipairs(shares) do
    local of_rows = calls_of(rows, row, number)
    if after_strip.line then
      local from = first_row(rows, row)
      for at, text in ipairs(after_strip.before(from, rows.size)) do table.insert(of_rows, at, text) end
      if not after_strip.by_group then of_rows[#of_rows + 1] = after_strip.line(from, rows.size) end
    end
    add_loop(lines, "i", rows.count, of_rows)
    row = row + rows.count * rows.size
  end
  return lines
end

--- Returns the body as lines of C.
--- kernel: { open: the names of the sizes among n, m and k that a call knows, if any (kernels/open.lua);
---   m, n, k, ldb, ldc in elements, lda in outputs; types; strips (plan/registers.lua); a_room: whether a whole
---   vector may be read at the end of a row of A; fetch (plan/ahead.lua) }
--- lanes: floats of a vector; adds: a C expression, whether the product is added to C; a, b: the names of A and B
--- after_strip: nil, or what follows each strip (not with tiles): { c: the name of C; one_strip: whether C has the
---   rows of only one strip; line: function(first, rows), which returns the line that works on the rows of C that a
---   strip has written (first: a C expression); before: the same, a list of lines before the strip; by_group: whether
---   C has the outputs of only one strip, too: line(first, rows, from, cols) then works on these outputs, and
---   from(pointer) returns the place of the first in rows of all }
function product.body(kernel, lanes, adds, a, b, after_strip)
  if kernel.open then
    local bodies = {}
    for i, each in ipairs(open.kernels(kernel)) do
      local function name(rows, group, is_whole) return name_of(each, rows, group, is_whole) end
      local function choice(group) return choice_of(each, group) end
      local groups = groups_of(each, lanes)
      local read, lines = split(each, a)
      bodies[i] = in_tiles(each) and open.body_in_tiles(each, lanes, adds, a, b, name, groups)
        or lines_of_c.append(lines, open.body(read, lanes, adds, a, b, choice, groups, after_strip))
    end
    return kernel.strips.tall and open.either(kernel, bodies[1], bodies[2])
      or kernel.strips.many and scaled_tiles.either(kernel, bodies[1], adds, a, b) or bodies[1]
  end
  if forms.all[kernel.strips.form].takes_tiles then
    return scaled_tiles.body(kernel, tostring(kernel.n), adds, a, b, kernel.fetch)
  end
  if in_tiles(kernel) then return body_in_tiles(kernel, lanes, adds, a, b) end
  local calls, fetch, more = 0, kernel.fetch, after_strip or {}
  local read, lines_before = split(kernel, a)
  return lines_of_c.append(lines_before, product.over_rows(kernel.strips.strips, more, function(rows, row)
    local of_rows, done, each_row = {}, 0, 0
    for _, group in ipairs(kernel.strips.groups) do each_row = each_row + group.count end
    for _, group in ipairs(groups_of(kernel, lanes)) do
      local ahead = ""
      if fetch then
        local i, j = loops_of(rows, group)
        local step = types.elements(fetch.each, kernel.types.a)
        local from, far = address(a, types.elements(fetch.from, kernel.types.a) + (calls + done) * step,
          i(each_row * step), j(step)), fetch.far or 0
        local is_paced = forms.all[kernel.strips.form].paced
        if forms.all[kernel.strips.form].in_blocks then
          ahead = (", %s, %d"):format(from, fetch.pace)
        else
          ahead = (is_paced and ", %s, %d, %d, %d, %d" or ", (const char *)(%s), %d, %d, %d, %d"):format(from,
            fetch.pace, fetch.lines, is_paced and types.elements(far, kernel.types.a) or far, fetch.nth)
        end
      end
      local lines = call_of(name_of(kernel, rows, group), read, lanes, a, b, row, rows, group,
        ("%s, %s, %s%s"):format(adds, kernel.a_room and "ATTN2C_LANES" or group.lanes, group.lanes, ahead), more.c,
        more.by_group and "group" or more.one_strip)
      if more.by_group then
        local _, j = loops_of(rows, group)
        lines[#lines + 1] = more.line(first_row(rows, row), rows.size,
          function(pointer) return address(pointer, group.first * lanes, j(group.size * lanes)) end,
          (group.size - 1) * lanes + group.lanes)
      end
      add_loop(of_rows, "j", group.count, lines)
      done = done + group.count
    end
    calls = calls + rows.count * each_row
    return of_rows
  end))
end

return product
