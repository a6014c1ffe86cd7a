-- lower.lua: checks steps against their declarations in steps.lua.
-- The strips of a product cover all of it. The weights that they prefetch follow those in use.
local expect = require("passes.checks.expect")
local forms = require("kernels.forms")
local operands = require("data.operands")
local kernel_tiles = require("kernels.tiles")
local programs = require("passes.common.programs")
local scaled = require("kernels.scaled")
local scaled_tiles = require("kernels.scaled_tiles")
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

local function sum_of(shares)
  return words.sum(shares, function(share) return share.count * share.size end)
end

-- Checks the weights that strips prefetch. They are after the weights in use: together a later panel, each line once;
-- or, if one strip reads the whole panel, any distance ahead of it, and perhaps one line of each pair.
local function check_ahead(k, name)
  local of, strips, fetch = k.strips, 0, k.fetch
  k, of = scaled.each_panel(k, of)
  for _, rows in ipairs(of.strips) do
    for _, group in ipairs(of.groups) do strips = strips + rows.count * group.count end
  end
  local panel = types.panel_bytes(k.panel_inputs or k.k, k.lda, k.types.a)
  expect(fetch.from > 0 and fetch.from % LINE == 0 and (strips == 1 or fetch.from % panel == 0), "lower",
    "%s: a product prefetches weights %d bytes ahead", name, fetch.from)
  if k.strips.step then -- at some places, which are together a panel
    local reached = strips * math.max(1, k.k // k.strips.step) * fetch.run * LINE
    expect(fetch.apart % LINE == 0 and fetch.lines * fetch.apart >= panel and reached >= fetch.apart, "lower",
      "%s: a product of %d strips in tiles prefetches at %d places %d bytes apart: not all of a panel", name, strips,
      fetch.lines, fetch.apart)
    return
  end
  local bytes, times = fetch.lines * LINE, (k.k + fetch.every - 1) // fetch.every
  if k.types.a == "f32" then bytes, times = math.min(bytes, types.bytes(fetch.pace, "f32")), k.k // fetch.every end
  if types.all[k.types.a].block then
    bytes, times = fetch.lines * math.min(fetch.pace, LINE), (k.k + types.SCALE_PAIR - 1) // types.SCALE_PAIR
  end
  expect(fetch.every >= 1 and fetch.lines >= 1 and fetch.each % LINE == 0 and fetch.each * strips >= panel
    and times * bytes >= fetch.each and (fetch.nth == 1 or strips == 1 and fetch.nth == 2), "lower",
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
  local inputs, is_open = k.strips.step, operands.named(k).k == "k"
  expect((is_open or inputs <= k.k) and inputs % types.group(k.types.a) == 0
    and types.bytes(inputs, k.types.a) <= kernel_tiles.BYTES, "lower", "%s: steps of %d inputs in tiles", name, inputs)
end

-- Checks that other strips fit the registers: the target's without the ones that a form or a cut row needs, or
-- a product before it is added. rows_held: as in strip.lua.
local function check_registers(k, target, name)
  local form = forms.all[k.strips.form]
  local more = target.registers == 16 and form.few_registers or form.registers
  local free = target.registers - math.max(more, target.has_fma and 0 or 1)
  if not k.a_room then free = free - target.cut_registers end
  each_strip(k, function(high, wide)
    local used = high * wide + (k.strips.rows_held and high + form.factors or 1 + wide * form.factors)
    expect(high >= 1 and wide >= 1 and used <= free, "lower", "%s: a strip of %d x %d needs %d of %d registers", name,
      high, wide, used, free)
  end)
end

-- Checks that a strip of weights in scale blocks has all vectors of a panel, or two panels if it is joint, and that its
-- sums, the integers of the vectors that it takes at a time and four more values fit the registers.
local function check_blocks(k, target, name)
  local group = k.strips.groups[1]
  expect(#k.strips.groups == 1 and k.lda == (group.count > 1 and group.count or k.strips.joint and group.size or 1)
    * types.SCALE_PANEL, "lower", "%s: a panel of scale blocks is divided", name)
  local many = forms.all[k.strips.many or k.strips.form].takes_tiles
  expect(not many or target.has_tiles and (k.strips.many_rows or k.n) >= scaled_tiles.ROWS, "lower",
    "%s: strips of scale blocks in tiles", name)
  if forms.all[k.strips.form].takes_tiles then
    each_strip(k, function(high)
      expect(high <= scaled_tiles.ROWS, "lower", "%s: a strip of %d rows in tiles", name, high)
    end)
    return
  end
  each_strip(k, function(high, wide)
    local used = high * wide + high * (k.strips.joint and wide or 1) + 4
    expect(high >= 1 and used <= target.registers, "lower", "%s: a strip of %d x %d needs %d of %d registers", name,
      high, wide, used, target.registers)
  end)
end

-- Checks that there is a strip of each size from the largest to `above` + 1, by default to 1.
local function check_each_size(shares, name, above)
  for i, each in ipairs(shares) do
    expect(each.count == 1 and each.size == (above or 0) + #shares + 1 - i, "lower", "%s: an open product lacks strips",
      name)
  end
end

-- Checks that a group of each power of two comes after the widest: any number of vectors is a sum of them.
local function check_powers(groups, name)
  local powers = #groups - 1
  local is_all = groups[1].size <= 2 ^ powers and (powers == 0 or groups[1].size > 2 ^ (powers - 1))
  for i = 2, #groups do is_all = is_all and groups[i].size == 2 ^ (powers + 1 - i) end
  expect(is_all, "lower", "%s: an open product lacks vectors", name)
end

-- Checks that the strips of a kernel cover all rows and outputs and fit.
local function check_strips(k, target, name)
  local groups, rows = k.strips.groups, k.strips.strips
  local open = operands.named(k)
  if open.n == "n" and forms.all[k.strips.form].in_tiles then
    expect(#rows == 2 and rows[1].size == 2 * kernel_tiles.SIDE and rows[2].size == kernel_tiles.SIDE,
      "lower", "%s: an open product in tiles lacks strips", name)
  elseif open.n == "n" then
    check_each_size(rows, name, k.strips.joint and (rows[1].size - 1) // 2 or k.strips.upto and k.strips.above)
  end
  if open.m == "m" then check_powers(groups, name) end
  expect((open.n == "n" or sum_of(rows) == k.n)
    and (open.m == "m" or sum_of(groups) == (k.m + target.vector - 1) // target.vector), "lower",
    "%s: the strips of a product make %d rows of %d vectors", name, sum_of(rows), sum_of(groups))
  local form = forms.all[k.strips.form]
  local check_fit = form.in_tiles and check_tiles or form.in_blocks and check_blocks or check_registers
  check_fit(k, target, name)
end

-- Checks a product's strips, and what they prefetch.
local function check_product(k, target, name)
  check_strips(k, target, name)
  expect(k.a_room == true or k.m % target.vector > 0, "lower", "%s: whole vectors of A are cut", name)
  local tall = k.strips.tall
  if tall then
    check_strips(setmetatable({ strips = tall }, { __index = k }), target, name)
    local above = k.strips.joint and 0 or k.strips.strips[1].size
    expect(tall.above == above or not tall.upto and tall.above > above, "lower",
      "%s: an open product lacks tall strips", name)
  end
  local function check_strips_ahead(count, fetch, of)
    local strips = { groups = of.groups, strips = { { count = count, size = of.strips[1].size } }, step = of.step }
    check_ahead(setmetatable({ fetch = fetch, strips = strips }, { __index = k }), name)
    expect(fetch.lines <= k.fetch.lines, "lower", "%s: a product prefetches too few lines", name)
  end
  for i, fetch in ipairs(k.fetch and k.fetch.by_strips or {}) do
    if fetch then check_strips_ahead(i, fetch, k.strips) end
  end
  if k.fetch and k.fetch.few then check_strips_ahead(1, k.fetch.few, k.strips) end
  for i, fetch in ipairs(k.fetch and k.fetch.tall or {}) do
    if fetch then check_strips_ahead(i, fetch, tall) end
  end
  local least = k.fetch and k.fetch.least
  expect(not least or least <= k.strips.strips[1].size, "lower", "%s: no strip prefetches", name)
  if k.fetch and k.fetch.near then
    expect(k.fetch.near > 0, "lower", "%s: a product prefetches what it reads", name)
  elseif k.fetch and not k.fetch.by_strips then
    check_ahead(k, name)
  end
end

--- Checks that steps are as declared, and so are the strips of products.
return function(state)
  local seen, target = {}, targets.by_name[state.spec.target]
  local check = { row = check_row, map = check_map, product = function(step, name)
    expect(step.outputs >= 1 and step.outputs <= step.kernel.m, "lower", "%s: the outputs of a product", name)
    if not seen[step.kernel] then check_product(step.kernel, target, name) end
    seen[step.kernel] = true
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
