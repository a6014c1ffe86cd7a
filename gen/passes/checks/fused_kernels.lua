-- fused_kernels.lua: checks a product and a map that are fused: strips of one do not disturb later strips of the other.
-- The map writes the rows of a strip before the product reads the next strip's. Both are computed only from the
-- steps' operands and offsets.
local expect = require("passes.checks.expect")
local footprint = require("data.footprint")
local operands = require("data.operands")
local panel_loops = require("passes.common.panel_loops")
local programs = require("passes.common.programs")
local steps = require("data.steps")
local types = require("data.types")

-- Symbols of the loops around a product and its map.
local symbols = { "b", "s", "head", "kv_head" }

-- True if two operands' buffers have a common byte.
local function are_beside(program, x, y)
  local first, second = program.offsets[x.buffer], program.offsets[y.buffer]
  if not first or not second or program.own[x.buffer] ~= program.own[y.buffer] then return false end
  return first < second + program.buffers[y.buffer].bytes and second < first + program.buffers[x.buffer].bytes
end

-- True if two operands, whose buffers have common bytes, touch one in one iteration. If they do not move alike with the
-- loops, all bytes of their buffers count.
local function touch(program, x, of_x, y, of_y)
  local first, second = program.offsets[x.buffer], program.offsets[y.buffer]
  for _, symbol in ipairs(symbols) do
    if (x.terms and x.terms[symbol] or 0) ~= (y.terms and y.terms[symbol] or 0) then return true end
  end
  local low_x, high_x = operands.reach(x, of_x, 0, 0)
  local low_y, high_y = operands.reach(y, of_y, 0, 0)
  return first + low_x <= second + high_y and second + low_y <= first + high_x
end

-- Returns the bytes of a product's rows from `row` on.
local function rows_of_b(product, row)
  local k, of = product.kernel, product.kernel.types.b
  return footprint.in_bytes({ first = row * k.ldb, { k.n - row, k.ldb }, { k.k, 1 } }, types.bytes(1, of))
end

-- Returns the bytes of an operand of a map's operation that rows from `row` on read.
local function rows_of(map, operation, declared, row)
  local dimensions = declared[3](operands.known(map, operation))
  if #dimensions == 2 and operation.ld and dimensions[1][2] == operation.ld then -- each row has one of its own
    dimensions = { first = row * operation.ld, { map.constants.rows - row, operation.ld }, dimensions[2] }
  end
  return footprint.in_bytes(dimensions, types.bytes(1, operands.type(map, declared)))
end

-- Calls visit(rows) for each strip of rows of a product. An open one (kernels/open.lua) divides its rows evenly.
local function each_strip(k, visit)
  if k.strips.is_open then
    local strips = (k.n + k.strips.strips[1].size - 1) // k.strips.strips[1].size
    for i = 0, strips - 1 do visit(k.n // strips + (i < k.n % strips and 1 or 0)) end
    return
  end
  for _, strips in ipairs(k.strips.strips) do
    for _ = 1, strips.count do visit(strips.size) end
  end
end

-- Returns what an operand of a product or map touches in all panels of its loop.
local function of_panels(dimensions, step, operand)
  return footprint.repeated(dimensions, panel_loops.count(step), panel_loops.stride(operand))
end

local function check_order(program, product, map, section)
  local k, size, y, row = product.kernel, map.constants, map.arguments.y, 0
  local y_bytes = types.bytes(1, size.type or "f32")
  local done
  local function apart(operand, dimensions)
    dimensions = of_panels(dimensions, product, operand)
    expect(not touch(program, y, done, operand, dimensions), "kernels",
      "%s: a map writes %s over what later strips read of %s", section.name, y.buffer, operand.buffer)
  end
  local checks = {} -- of the operands whose buffers have bytes of y's
  local function add(operand, check)
    if operand.buffer and are_beside(program, y, operand) then checks[#checks + 1] = check end
  end
  local a, b = product.arguments.a, product.arguments.b
  add(a, function()
    apart(a, footprint.in_bytes(steps.product.operands[1][3](operands.known(product)), types.bytes(1, k.types.a)))
  end)
  add(b, function() apart(b, rows_of_b(product, row)) end)
  operands.each(map, function(operand, access, declared, _, operation)
    if not operation or access ~= "r" then return end
    add(operand, function() apart(operand, rows_of(map, operation, declared, row)) end)
  end)
  if #checks == 0 then return end
  each_strip(k, function(rows)
    row = row + rows
    if row >= k.n then return end
    done = of_panels(footprint.in_bytes({ first = 0, { row, size.ld }, { size.cols, 1 } }, y_bytes), product, y)
    for _, check in ipairs(checks) do check() end
  end)
end

-- Checks that the map works on the product's result, all rows and outputs of it.
local function check_place(product, map, is_local, section)
  local k, size, first = product.kernel, map.constants, map.elementwise[1]
  local c, x, ld = product.arguments.c, map.arguments.y, size.ld
  if is_local then x, ld = map.arguments[first.argument], first.ld end
  expect(steps.elementwise[first.kind].loads or not is_local, "kernels", "%s: the map after %s loads nothing",
    section.name, c.buffer)
  expect(size.rows == k.n and size.cols == product.outputs and ld == k.ldc and x.buffer == c.buffer
    and x.offset == c.offset and k.beta == 0, "kernels", "%s: a map is fused with other sums than those in %s",
    section.name, c.buffer)
end

--- Checks that strips of a fused product and map disturb no later ones. program: one whose sizes are known, perhaps
--- that of a call. checks/memory.lua checks that nobody else reads sums on the stack.
return function(program)
  local last
  programs.each(program, function(step, section)
    local pair = last and program.fused_kernels[last]
    if pair then
      expect(pair.map == step, "kernels", "%s: a product is fused with a map that does not follow it", section.name)
      check_place(last, step, pair.is_local, section)
      check_order(program, last, step, section)
    end
    last = step
  end)
end
