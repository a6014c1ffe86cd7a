-- joint: which products of bf16 and int8 share a function with the map behind them, strip by strip: sums are read again
-- while they are in the first-level cache, and where the map alone reads them, never stored but on the stack. Products
-- are so fast that the way of a tile to the second-level cache and back shows: 0.07 of the time in bf16, 0.15 in int8.
-- Not where a product of bf16 reads rows of floats (bf16_floats): it is as slow as one of f32, and its strips are so
-- narrow that the beginnings and ends of a map's rows cost more than is gained.
local forms = require("kernels.forms")
local operands = require("data.operands")
local steps = require("data.steps")

local joint = {}

local function same_place(x, y) return operands.same_buffer(x, y) and x.offset == y.offset end

-- Whether two operands' buffers have bytes of the arena in common. Outputs lie there, too, if the caller does not want
-- them.
local function overlap(program, x, y)
  local first, second = program.offsets[x.buffer], program.offsets[y.buffer]
  if not first or not second or program.own[x.buffer] ~= program.own[y.buffer] then return false end
  return first < second + program.buffers[y.buffer].bytes and second < first + program.buffers[x.buffer].bytes
end

-- Whether a step of the unit from list[at] on reads a buffer.
local function is_read_later(list, at, buffer)
  local unit, is_read = list[at - 1].unit, false
  for i = at, #list do
    if list[i].unit ~= unit then break end
    operands.each(list[i], function(operand, access)
      is_read = is_read or operand.buffer == buffer and access ~= "w"
    end)
  end
  return is_read
end

--- How the product list[at] is joined with the map behind it: { map, is_local: whether sums lie on the stack, else
--- where the map writes }; nil where it is not: the map must be of the product's rows and outputs, begin with its sums,
--- and write nothing that later strips read.
function joint.of(program, list, at)
  local product, map = list[at], list[at + 1]
  local k = product.kernel
  if not k.strips or k.beta ~= 0 or k.types.b == "f32" or forms.all[k.strips.form].in_tiles then return nil end
  if not map or map.form ~= "map" or map.unit ~= product.unit then return nil end
  local size, first = map.constants, map.elementwise[1]
  if size.rows ~= k.n or size.cols ~= product.outputs then return nil end
  local c, y = product.arguments.c, map.arguments.y
  if not steps.elementwise[first.kind].loads then
    return same_place(c, y) and size.ld == k.ldc and { map = map, is_local = false } or nil
  end
  local x = map.arguments[first.argument]
  local is_private = c.class == "arena" and program.buffers[c.buffer].private == "unit"
  if not same_place(c, x) or first.ld ~= k.ldc or not is_private or is_read_later(list, at + 2, c.buffer)
    or overlap(program, product.arguments.b, y) then
    return nil
  end
  return { map = map, is_local = true }
end

return joint
