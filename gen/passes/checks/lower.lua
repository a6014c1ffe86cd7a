-- lower.lua: checks steps against their declarations in steps.lua.
-- The calls of a tile, or the strips of a product, cover all of it from the operands that they may touch. The weights
-- that they prefetch follow those in use.
local expect = require("passes.checks.expect")
local footprint = require("data.footprint")
local forms = require("kernels.forms")
local operands = require("data.operands")
local kernel_tiles = require("kernels.tiles")
local programs = require("passes.common.programs")
local rectangles = require("passes.checks.rectangles")
local steps = require("data.steps")
local targets = require("data.targets")
local types = require("data.types")
local words = require("common.words")

local LINE = types.LINE

-- Names of the constants and of the operands of a row operation, by its name.
local constants_of, operands_of = {}, {}
for fn, entry in pairs(steps.rows) do
  constants_of[fn], operands_of[fn] = words.set(entry.constants), {}
  for _, declared in ipairs(entry.operands) do operands_of[fn][declared[1]] = true end
end

local function check_row(step, name)
  local entry = steps.rows[step.fn]
  expect(entry, "lower", "%s: no row operation %s", name, step.fn)
  for _, constant in ipairs(entry.constants) do
    expect(step.constants[constant] ~= nil, "lower", "%s: %s lacks %s", name, step.fn, constant)
  end
  for constant in pairs(step.constants) do
    expect(constant == "open" or constants_of[step.fn][constant], "lower",
      "%s: %s has no constant %s", name, step.fn, constant)
  end
  for _, each in ipairs(entry.operands) do
    local operand = step.arguments[each[1]]
    expect(operand or each.optional, "lower", "%s: %s lacks %s", name, step.fn, each[1])
    expect(not operand or each[2] ~= "value" or operand.most, "lower", "%s: %s of %s has no bounds", name, each[1],
      step.fn)
  end
  for operand in pairs(step.arguments) do
    expect(operands_of[step.fn][operand], "lower", "%s: %s has no operand %s", name, step.fn, operand)
  end
end

local function check_map(step, name)
  local of_operation = { y = step.arguments.y }
  for _, operation in ipairs(step.elementwise) do
    local entry = steps.elementwise[operation.kind]
    expect(entry, "lower", "%s: no elementwise operation %s", name, operation.kind)
    local operand = operation.argument and step.arguments[operation.argument]
    expect((operand and 1 or 0) == #entry.operands, "lower", "%s: the operand of %s", name, operation.kind)
    if operand then of_operation[operation.argument] = operand end
  end
  for argument in pairs(step.arguments) do
    expect(of_operation[argument], "lower", "%s: no operation of a map has the operand %s", name, argument)
  end
end

-- Checks a tile's fetches. Sorted by their lines, they are contiguous, as long as the weights that the tile reads,
-- and after the weights in use.
local function check_fetches(step, name)
  local list, lines = {}, 0
  for _, call in ipairs(step.calls) do
    if call.fetch then
      list[#list + 1] = call.fetch
      lines = lines + call.fetch.lines
      expect(call.fetch.lines > 0 and call.fetch.from % LINE == 0 and call.fetch.from > call.a, "lower",
        "%s: a tile fetches %d lines from %d", name, call.fetch.lines, call.fetch.from)
    end
  end
  if #list == 0 then return end
  table.sort(list, function(x, y) return x.from < y.from end)
  local shape = step.kernel
  local bytes = types.bytes(shape.k * shape.lda, shape.types.a)
  expect(lines * LINE == bytes, "lower", "%s: a tile of %d lines fetches %d", name, bytes // LINE, lines)
  for i = 2, #list do
    expect(list[i].from == list[i - 1].from + LINE * list[i - 1].lines, "lower",
      "%s: a tile fetches %d lines from %d, then from %d", name, list[i - 1].lines, list[i - 1].from, list[i].from)
  end
end

-- Returns the elements that an operand of a call touches, from the tile's first element on.
local function touched(step, call, which)
  local known = operands.known { form = "product", kernel = call.kernel, batch = call.batch }
  local name = ({ "a", "b", "c" })[which]
  return rectangles.of(footprint.boxes(steps.product.operands[which][3](known)), step.kernel["ld" .. name],
    types.elements(call[name], step.kernel.types[name]))
end

-- Checks that the calls of a tile cover it: for each output all inputs, each once, the first time without adding to a
-- sum.
local function check_tile(step, name)
  local shape, products, begun = step.kernel, 0, {}
  local limits = { { shape.k, shape.m }, { shape.n, shape.k }, { shape.n, shape.m } }
  for _, call in ipairs(step.calls) do
    local k = call.kernel
    expect(k.lda == shape.lda and k.ldb == shape.ldb and k.ldc == shape.ldc, "lower",
      "%s: a call of a tile has other leading dimensions", name)
    local boxes = {}
    for which = 1, 3 do
      boxes[which] = touched(step, call, which)
      for _, box in ipairs(boxes[which]) do
        expect(box[1] >= 0 and box[2] <= limits[which][1] and box[3] >= 0 and box[4] <= limits[which][2], "lower",
          "%s: a call leaves its tile", name)
      end
    end
    local rows, inputs = boxes[3][1], boxes[2][1]
    expect(#boxes[2] == 1 and #boxes[3] == 1 and rows[1] == inputs[1] and rows[2] == inputs[2]
      and boxes[1][1][1] == inputs[3] and boxes[1][#boxes[1]][2] == inputs[4], "lower",
      "%s: the operands of a call do not fit", name)
    begun[rows[1]] = begun[rows[1]] or {}
    expect(k.beta == (next(begun[rows[1]]) and 1 or 0), "lower", "%s: a call's sum begins where it must not", name)
    for _, other in ipairs(begun[rows[1]]) do
      expect(other[4] <= inputs[3] or inputs[4] <= other[3], "lower", "%s: a tile sums an input twice", name)
    end
    table.insert(begun[rows[1]], inputs)
    products = products + (rows[2] - rows[1]) * (inputs[4] - inputs[3])
  end
  expect(products == shape.n * shape.k, "lower", "%s: the calls of a tile do not make all of it", name)
  check_fetches(step, name)
end

-- Returns the sum of shares { count, size }.
local function sum_of(shares)
  local sum = 0
  for _, share in ipairs(shares) do sum = sum + share.count * share.size end
  return sum
end

-- Checks the weights that strips prefetch. They are after the weights in use: together a later panel, each line once;
-- or, if one strip reads the whole panel, any distance ahead of it.
local function check_ahead(k, name)
  local fetch, strips = k.fetch, 0
  for _, rows in ipairs(k.strips.strips) do
    for _, group in ipairs(k.strips.groups) do strips = strips + rows.count * group.count end
  end
  local panel = types.panel_bytes(k.k, k.lda, k.types.a)
  expect(fetch.from > 0 and fetch.from % LINE == 0 and (strips == 1 or fetch.from % panel == 0), "lower",
    "%s: a product prefetches weights %d bytes ahead", name, fetch.from)
  local times = (k.k + fetch.every - 1) // fetch.every
  expect(fetch.every >= 1 and fetch.lines >= 1 and fetch.each % LINE == 0 and fetch.each * strips >= panel
    and times * fetch.lines * LINE >= fetch.each, "lower",
    "%s: a product of %d strips prefetches %d lines every %d inputs, %d bytes apart: not all of a panel", name, strips,
    fetch.lines, fetch.every, fetch.each)
end

-- Calls visit(high, wide) for the rows of each kind of strip by the vectors of each kind of group.
local function each_strip(k, visit)
  for _, rows in ipairs(k.strips.strips) do
    for _, group in ipairs(k.strips.groups) do visit(rows.size, group.size) end
  end
end

-- Checks that strips in tiles fit the tiles, and steps the tiles' rows.
local function check_tiles(k, target, name)
  each_strip(k, function(high, wide)
    expect(target.has_tiles and high >= 1 and high <= 2 * kernel_tiles.SIDE and wide >= 1 and wide <= 2, "lower",
      "%s: a strip of %d x %d in tiles", name, high, wide)
  end)
  local inputs = k.strips.step
  expect(inputs <= k.k and inputs % types.group(k.types.a) == 0
    and types.bytes(inputs, k.types.a) <= kernel_tiles.BYTES, "lower", "%s: steps of %d inputs in tiles", name, inputs)
end

-- Checks that other strips fit the registers: those of the target without the ones that a form or a cut row needs, or
-- a product before it is added. rows_held: as in strip.lua.
local function check_registers(k, target, name)
  local form = forms.all[k.strips.form]
  local free = target.registers - math.max(form.registers, target.has_fma and 0 or 1)
  if not k.a_room then free = free - target.cut_registers end
  each_strip(k, function(high, wide)
    local used = high * wide + (k.strips.rows_held and high + form.factors or 1 + wide * form.factors)
    expect(high >= 1 and wide >= 1 and used <= free, "lower", "%s: a strip of %d x %d needs %d of %d registers", name,
      high, wide, used, free)
  end)
end

-- Checks that there is a strip of each size from the largest to 1.
local function check_each_size(shares, name)
  for i, each in ipairs(shares) do
    expect(each.count == 1 and each.size == #shares + 1 - i, "lower", "%s: an open product lacks strips", name)
  end
end

-- Checks that the strips of a kernel cover all rows and outputs and fit.
local function check_strips(k, target, name)
  local groups, rows = k.strips.groups, k.strips.strips
  local open = operands.named(k)
  if open.n == "n" then check_each_size(rows, name) end
  if open.m == "m" then check_each_size(groups, name) end
  expect((open.n == "n" or sum_of(rows) == k.n)
    and (open.m == "m" or sum_of(groups) == (k.m + target.vector - 1) // target.vector), "lower",
    "%s: the strips of a product make %d rows of %d vectors", name, sum_of(rows), sum_of(groups))
  local check_fit = forms.all[k.strips.form].in_tiles and check_tiles or check_registers
  check_fit(k, target, name)
end

-- Checks that a product in C is one block, its strips, and what they prefetch.
local function check_c_product(step, target, name)
  local k = step.kernel
  expect(step.batch.count == 1 and not step.calls, "lower", "%s: a product in C has several blocks or calls", name)
  check_strips(k, target, name)
  expect(k.a_room == true or k.m % target.vector > 0, "lower", "%s: whole vectors of A are cut", name)
  for i, fetch in ipairs(k.fetch and k.fetch.by_strips or {}) do
    if fetch then
      local strips = { groups = k.strips.groups, strips = { { count = i, size = k.strips.strips[1].size } } }
      check_ahead(setmetatable({ fetch = fetch, strips = strips }, { __index = k }), name)
      expect(fetch.lines <= k.fetch.lines, "lower", "%s: a product prefetches too few lines", name)
    end
  end
  if k.fetch and not k.fetch.by_strips then check_ahead(k, name) end
end

-- Checks that a kernel of libxsmm can be made in C too, where rows of A end within a vector.
local function check_fallback(k, target, name)
  expect(k.fallback, "lower", "%s: a kernel has no strips", name)
  check_strips(setmetatable({ strips = k.fallback, a_room = k.m % target.vector == 0 }, { __index = k }), target, name)
end

--- Checks that steps are as declared, and so are the calls of tiles and the strips of products.
return function(state)
  local seen, target = {}, targets.by_name[state.spec.target]
  local check = { row = check_row, map = check_map, product = function(step, name)
    expect(step.outputs >= 1 and step.outputs <= step.kernel.m, "lower", "%s: the outputs of a product", name)
    if step.calls and not seen[step.calls] then
      seen[step.calls] = true
      check_tile(step, name)
    end
    if step.kernel.strips and not seen[step.kernel] then
      seen[step.kernel] = true
      check_c_product(step, target, name)
    end
    for _, call in ipairs(step.kernel.strips and {} or step.calls or { step }) do
      if not seen[call.kernel] then check_fallback(call.kernel, target, name) end
      seen[call.kernel] = true
    end
  end }
  for _, program in ipairs(state.programs) do
    local buffers, place = program.buffers, nil
    local function check_buffer(operand)
      if operand.value or operand.symbol or operand.class == "weight" or buffers[operand.buffer] then return end
      expect(false, "lower", "%s: there is no buffer %s", place, operand.buffer)
    end
    for _, segment in ipairs(program.segments) do
      for _, section in ipairs(segment.sections) do
        place = section.name
        for _, step in ipairs(section.steps) do
          if check[step.form] then check[step.form](step, place) end
          if programs.is_call(step) then operands.each(step, check_buffer) end
        end
      end
    end
  end
end
