-- fuse.lua: chooses the products of bf16 and int8 that are fused with the map after them, strip by strip.
-- The map reads a strip's sums while they are in the first-level cache. If the map alone reads them, they are only on
-- the stack. Products are so fast that storing a tile in the second-level cache and loading it again takes 7% of the
-- time in bf16, 15% in int8. A product of bf16 that reads rows of floats (bf16_floats) is not fused. It is as slow as
-- one of f32, and its strips are so narrow that the beginnings and ends of a map's rows cost more than is gained.
--
-- Before: scheduled programs. After: each program has
--   joints    product -> { map, is_local: true if its sums are on the stack, else they are in the map's result }
--   joined    the maps of these
--   unstored  step -> its operand on the stack: the sums of a product, and the same as its map loads them
local forms = require("kernels.forms")
local operands = require("data.operands")
local programs = require("passes.common.programs")
local step_text = require("data.step_text")
local steps = require("data.steps")

local fuse = {}

local function same_place(x, y) return operands.same_buffer(x, y) and x.offset == y.offset end

-- True if two operands are in one buffer, or in buffers that overlap on purpose. Any other two do not overlap, as a
-- joint is one moment for memory.
local function share(program, x, y)
  local buffers = program.buffers
  if not buffers[x.buffer] or not buffers[y.buffer] then return false end
  return programs.slot(buffers, x.buffer) == programs.slot(buffers, y.buffer)
end

-- True if a step of the unit from list[at] on reads a buffer.
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

-- True if a call knows the rows of both a product and a map by one symbol, and no other size; or none of either.
local function are_alike(product, map)
  local of_product, of_map = product.kernel.open, map.constants.open
  if not of_product and not of_map then return true end
  return of_product == "n" and of_map == "rows" and product.sizes.n == map.sizes.rows
end

--- Returns how the product list[at] is fused with the map after it, or nil. The map must have the product's rows and
--- outputs, begin with its sums, and write nothing that later strips read.
function fuse.joint(program, list, at)
  local product, map = list[at], list[at + 1]
  local k = product.kernel
  if k.beta ~= 0 or k.types.b == "f32" or forms.all[k.strips.form].in_tiles then return nil end
  if not map or map.form ~= "map" or map.unit ~= product.unit then return nil end
  local size, first = map.constants, map.elementwise[1]
  if size.rows ~= k.n or size.cols ~= product.outputs or not are_alike(product, map) then return nil end
  local c, y = product.arguments.c, map.arguments.y
  if not steps.elementwise[first.kind].loads then
    return same_place(c, y) and size.ld == k.ldc and { map = map, is_local = false } or nil
  end
  local x = map.arguments[first.argument]
  local is_private = c.class == "arena" and program.buffers[c.buffer].private == "unit"
  if not same_place(c, x) or first.ld ~= k.ldc or not is_private or is_read_later(list, at + 2, c.buffer)
    or share(program, product.arguments.b, y) then
    return nil
  end
  return { map = map, is_local = true }
end

local function join(program)
  program.joints, program.joined, program.unstored = {}, {}, {}
  if program.variant ~= "ship" then return end
  programs.each_list(program, function(list)
    for i, step in ipairs(list) do
      local pair = step.form == "product" and fuse.joint(program, list, i)
      if pair then
        program.joints[step], program.joined[pair.map] = pair, true
        if pair.is_local then
          program.unstored[step] = step.arguments.c
          program.unstored[pair.map] = pair.map.arguments[pair.map.elementwise[1].argument]
        end
      end
    end
  end)
end

function fuse.run(state)
  for _, program in ipairs(state.programs) do join(program) end
end

--- Returns the fused products of shipped programs as text: both steps, and the place of the sums.
function fuse.dump(state)
  local lines = {}
  for _, program in ipairs(state.programs) do
    if program.variant == "ship" then
      local title, joined, all = #lines + 1, 0, 0
      lines[title] = ""
      programs.each(program, function(step, section)
        local pair = program.joints[step]
        all = all + (step.form == "product" and 1 or 0)
        if pair then
          joined = joined + 1
          lines[#lines + 1] = ("  %s, sums %s:\n    %s\n    %s"):format(section.name,
            pair.is_local and "on the stack" or "in place", step_text.of(step), step_text.of(pair.map))
        end
      end)
      lines[title] = ("%s for %d workers: %d of %d products share a function with the map after them"):format(
        program.entry.name, program.threads, joined, all)
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return fuse
