-- instance.lua: turns a program with open sizes into the program of one call, in which all sizes are known.
-- Loops over open sizes are unrolled, and symbols replaced by their values, so that the other checkers see what a call
-- does. Sizes and places are sums of symbols with fixed factors. So if no operand leaves its buffer at the ends of the
-- symbols' ranges, none does in between; the calls of instance.calls are at these ends.
local loops = require("data.loops")
local operands = require("data.operands")
local types = require("data.types")
local words = require("common.words")

local instance = {}

--- Returns the calls for which a program is checked: lengths of sequences, of at most `most` rows in all, around the
--- sizes of blocks.
function instance.calls(most)
  local list, seen = {}, {}
  local function add(lengths)
    local rows, first = 0, { 0 }
    for i, length in ipairs(lengths) do
      rows = rows + length
      first[i + 1] = rows
    end
    local key = table.concat(lengths, " ")
    if rows <= most and lengths[1] > 0 and not seen[key] then
      seen[key] = true
      list[#list + 1] = { rows = rows, first = first, lengths = lengths }
    end
  end
  add { most }
  add { 1 }
  add { most - 1, 1 }
  add { 1, most // 2, most - most // 2 - 1 }
  local ones = {}
  for i = 1, math.min(most, 3) do ones[i] = 1 end
  add(ones)
  return list
end

-- Returns the value of a size: a symbol's, or that of a symbol plus a number.
local function value_of(symbols, name)
  return assert(symbols[name], name)
end

local function with_values(operand, symbols)
  local copy = {}
  for key, value in pairs(operand) do copy[key] = value end
  if operand.symbol then
    copy.value = value_of(symbols, operand.symbol) + operand.plus
    copy.least, copy.most, copy.symbol = copy.value, copy.value, nil
  end
  for symbol, stride in pairs(operand.terms or {}) do
    copy.offset = copy.offset + stride * value_of(symbols, symbol)
  end
  copy.terms = operand.terms and {}
  return copy
end

-- Returns a table with the values of its open names.
local function sized(of, sizes, symbols)
  if not of.open then return of end
  local copy = {}
  for key, value in pairs(of) do copy[key] = value end
  for name in of.open:gmatch("%S+") do copy[name] = value_of(symbols, sizes[name]) end
  copy.open = nil
  return copy
end

-- Returns a step with the values of a call's symbols.
local function known_step(step, symbols)
  local copy = {}
  for key, value in pairs(step) do copy[key] = value end
  copy.arguments = {}
  for name, operand in pairs(step.arguments) do copy.arguments[name] = operand and with_values(operand, symbols) end
  if step.kernel then
    copy.kernel = sized(step.kernel, step.sizes, symbols)
    copy.outputs = math.min(step.outputs, copy.kernel.m)
  end
  if step.constants then copy.constants = sized(step.constants, step.sizes, symbols) end
  copy.sizes = nil
  return copy
end

-- Returns the number of the step that ends the loop that list[at] begins.
local function finish_of(list, at)
  local depth = 0
  for i = at, #list do
    if list[i].form == "begin" then depth = depth + 1 end
    if list[i].form == "finish" then depth = depth - 1 end
    if depth == 0 then return i end
  end
  error("a loop without an end")
end

-- Appends the steps list[first .. last] of one call.
local function unroll(list, first, last, call, symbols, result, copy_of)
  local at = first
  while at <= last do
    local step = list[at]
    if step.form == "begin" then
      local stop = finish_of(list, at)
      loops.forms[step.loop].run(step, call, symbols, function()
        unroll(list, at + 1, stop - 1, call, symbols, result, copy_of)
      end)
      at = stop
    elseif operands.entry(step) then
      local known = known_step(step, symbols)
      result[#result + 1] = known
      copy_of(step, known)
    else
      result[#result + 1] = step
    end
    at = at + 1
  end
end

--- Returns the bytes of an input or output in a call.
function instance.tensor_bytes(tensor, spec, call)
  local elements = words.elements(tensor.shape)
  if not tensor.unbatched then
    local has_rows = tensor.shape[2] == spec.seq
    elements = has_rows and elements // spec.seq * call.rows or elements * (#call.first - 1)
  end
  return types.bytes(elements, tensor.type)
end

--- Returns a program of one call: its segments with unrolled sections, and the tables of the program by step
--- (joints, joined, unstored) for the new steps.
function instance.of(program, call)
  local known = setmetatable({ segments = {}, joints = {}, joined = {}, unstored = {} }, { __index = program })
  local pair -- of the fused product before
  local function copy_of(step, new)
    if program.joined[step] then
      known.joined[new], pair.map = true, new
      if pair.is_local then
        known.unstored[pair.product] = pair.product.arguments.c
        known.unstored[new] = new.arguments[new.elementwise[1].argument]
      end
    end
    if program.joints[step] then
      pair = setmetatable({ product = new }, { __index = program.joints[step] })
      known.joints[new] = pair
    end
  end
  for i, segment in ipairs(program.segments) do
    local copy = setmetatable({ sections = {} }, { __index = segment })
    for s, section in ipairs(segment.sections) do
      local list = {}
      unroll(section.steps, 1, #section.steps, call, {}, list, copy_of)
      copy.sections[s] = setmetatable({ steps = list }, { __index = section })
    end
    known.segments[i] = copy
  end
  return known
end

return instance
