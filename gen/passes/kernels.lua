-- kernels.lua: names the distinct kernel shapes, tiles, row operations and panel loops of all entries' programs.
-- They are numbered in order of first use, and so are the batches of blocks that products reduce over.
--
-- Before: programs with joints and offsets; build_suffix: the end of functions' names if there are several targets.
-- After:
--   state.kernels = list of shapes; state.batches = list of { name, count, a, b }
--   state.functions = list of { name, step, joint: of fuse.lua, if a product and a map are fused }; joints have names
--   state.series = list of the panel loops of kernels/series.lua, one for each function; program.series = first step
--     -> its panel loop, with its name; program.in_series = the other steps of these
--   state.fallbacks = a kernel in C for each shape
--   each call of a product of libxsmm has kernel_index and batch_name; each other product, tile, map and row step has
--     function_name
local calls = require("passes.common.calls")
local kernel_text = require("passes.common.kernel_text")
local operands = require("data.operands")
local programs = require("passes.common.programs")
local series = require("passes.kernels.series")
local steps = require("data.steps")
local words = require("common.words")

local kernels = {}

local function shape_key(kernel)
  local k, of = operands.named(kernel), kernel.types
  return ("%s %s %s %d %d %d %d %s %s %s %s %s"):format(k.m, k.n, k.k, k.lda, k.ldb, k.ldc, k.beta, of.a, of.b, of.sum,
    of.c, k.open or "")
end

-- Returns the operations of a map as a name: bias_relu.
local function doing(map)
  local parts = {}
  for _, operation in ipairs(map.elementwise) do
    if not steps.elementwise[operation.kind].loads then parts[#parts + 1] = operation.fn or operation.kind end
  end
  return table.concat(parts, "_")
end

-- Returns the operations of a step and their size as a name: bias_relu_128x64.
local function base_name(step)
  if step.form == "product" then
    local type, k = step.kernel.types.a, operands.named(step.kernel)
    return ("product_%s%sx%sx%s"):format(type == "f32" and "" or type .. "_", k.n, k.m, k.k)
  end
  local c, size = operands.named(step.constants), {}
  if c.rows then size[#size + 1] = c.rows == "rows" and "n" or c.rows end
  size[#size + 1] = c.head_dim or c.cols == "cols" and "m" or c.cols
  return (step.form == "map" and doing(step) or step.fn) .. "_" .. table.concat(size, "x")
end

-- Returns a key that distinguishes tiles by their calls, which visit_call has numbered.
local function tile_key(step)
  local parts = { "tile" }
  for _, call in ipairs(step.calls) do
    local fetch = call.fetch or { from = 0, lines = 0 }
    parts[#parts + 1] = ("%d %s %d %d %d %d %d"):format(call.kernel_index, call.batch_name, call.a, call.b, call.c,
      fetch.from, fetch.lines)
  end
  return table.concat(parts, ",")
end

-- Returns a key that distinguishes products in C.
local function product_key(k)
  local strips = {}
  for _, list in ipairs { k.strips.groups, k.strips.strips } do
    for _, each in ipairs(list) do strips[#strips + 1] = each.count .. "x" .. each.size end
  end
  local ahead = {}
  for _, fetch in ipairs(k.fetch and (k.fetch.by_strips or { k.fetch }) or {}) do
    ahead[#ahead + 1] = fetch and ("%d %d %d %d"):format(fetch.from, fetch.each, fetch.every, fetch.lines) or "none"
  end
  return ("%s %s %s %s %s"):format(shape_key(k), table.concat(strips, " "), k.strips.rows_held, k.a_room,
    table.concat(ahead, " "))
end

local function function_key(step)
  if step.form == "product" then return step.calls and tile_key(step) or product_key(step.kernel) end
  local parts, named = { step.form }, operands.named(step.constants)
  for _, name in ipairs(words.sorted_keys(step.constants)) do
    parts[#parts + 1] = name .. "=" .. steps.constant(named[name])
  end
  if step.form == "map" then
    for _, operation in ipairs(step.elementwise) do
      parts[#parts + 1] = ("%s %s %s %s %s"):format(operation.kind, operation.fn or "", operation.argument or "",
        operation.ld or "", steps.constant(operation.factor or operation.value or ""))
    end
  else
    parts[#parts + 1] = step.fn
    for _, declared in ipairs(steps.rows[step.fn].operands) do
      parts[#parts + 1] = step.arguments[declared[1]] and "1" or "0"
    end
  end
  return table.concat(parts, ",")
end

local Namer = {}
Namer.__index = Namer

-- Returns a namer. suffix: the end of each name.
local function namer(suffix) return setmetatable({ by_key = {}, taken = {}, suffix = suffix }, Namer) end

-- Returns the name for a key. The first key of a base has the base as its name, the others have a number after it.
function Namer:name(key, base)
  local name = self.by_key[key]
  if name then return name, false end
  local number = (self.taken[base] or 0) + 1
  self.taken[base] = number
  name = (number == 1 and base or base .. "_" .. number) .. self.suffix
  self.by_key[key] = name
  return name, true
end

local visitors = {}

local function visit_function(step, state, seen)
  local name, new = seen.functions:name(function_key(step), base_name(step))
  if new then state.functions[#state.functions + 1] = { name = name, step = step } end
  return name
end

local function kernel_index(kernel, state, seen)
  local key = shape_key(kernel)
  if not seen.kernels[key] then
    state.kernels[#state.kernels + 1] = kernel
    seen.kernels[key] = #state.kernels - 1
  end
  return seen.kernels[key]
end

local function batch_name(batch, state, seen)
  local name, new = seen.batches:name(("%d %d %d"):format(batch.count, batch.a, batch.b), "BATCH_" .. batch.count)
  if new then state.batches[#state.batches + 1] = { name = name, count = batch.count, a = batch.a, b = batch.b } end
  return name
end

local function visit_call(call, state, seen)
  local index, names = seen.index, seen.names
  index[call.kernel] = index[call.kernel] or kernel_index(call.kernel, state, seen)
  names[call.batch] = names[call.batch] or batch_name(call.batch, state, seen)
  call.kernel_index, call.batch_name = index[call.kernel], names[call.batch]
end

function visitors.product(step, state, seen)
  if step.kernel.strips then
    local names = seen.products
    names[step.kernel] = names[step.kernel] or visit_function(step, state, seen)
    step.function_name = names[step.kernel]
    return
  end
  if not step.calls then return visit_call(step, state, seen) end
  if not seen.tiles[step.calls] then
    for _, call in ipairs(step.calls) do visit_call(call, state, seen) end
    seen.tiles[step.calls] = visit_function(step, state, seen)
  end
  step.function_name = seen.tiles[step.calls]
end

local function visit_named(step, state, seen)
  local alike = operands.alike(seen.steps, step)
  alike.name = alike.name or visit_function(step, state, seen)
  step.function_name = alike.name
end

visitors.map, visitors.row = visit_named, visit_named

-- Names the functions that products share with the map after them.
local function name_joints(program, state, seen)
  programs.each(program, function(step)
    local pair = program.joints[step]
    if pair then
      local key = ("%s; %s; %s"):format(function_key(step), function_key(pair.map), pair.is_local)
      local name, new = seen.functions:name(key, ("%s_%s"):format(base_name(step), doing(pair.map)))
      if new then state.functions[#state.functions + 1] = { name = name, step = step, joint = pair } end
      pair.name = name
    end
  end)
end

-- Returns the name of a panel loop, panels_128x768x768_bias: all its outputs, and each panel's epilogue.
local function series_name(each)
  local k, parts = each.calls[1].step.kernel, {}
  local type = k.types.a == "f32" and "" or k.types.a .. "_"
  parts[1] = ("panels_%s%sx%dx%d"):format(type, operands.named(k).n, each.count * k.m, k.k)
  for i, call in ipairs(each.calls) do
    local map = call.pair and call.pair.map or call.step.form == "map" and call.step
    local what = map and doing(map) or call.step.fn or i > 1 and "product" or nil
    if what ~= parts[#parts] then parts[#parts + 1] = what end
  end
  return table.concat(parts, "_")
end

-- Finds the panel loops of a program and names their functions.
local function find_series(program, state, seen)
  program.series, program.in_series = {}, {}
  programs.each_list(program, function(list)
    for _, each in ipairs(series.of(program, list)) do
      local name, new = seen.functions:name(series.key(each), series_name(each))
      each.name = name
      if new then state.series[#state.series + 1] = each end
      program.series[each.steps[1]] = each
      for i = 2, #each.steps do program.in_series[each.steps[i]] = true end
    end
  end)
end

-- Returns the kernels of libxsmm as kernels in C, with the strips that the plan has for processors where no code can
-- be made at run time.
local function fallbacks_of(state)
  local list = {}
  for i, k in ipairs(state.kernels) do
    list[i] = setmetatable({ strips = k.fallback, a_room = false }, { __index = k })
  end
  return list
end

function kernels.run(state)
  state.kernels, state.batches, state.functions, state.series = {}, {}, {}, {}
  local seen = { kernels = {}, index = {}, names = {}, tiles = {}, products = {}, steps = {},
    batches = namer((state.build_suffix or ""):upper()), functions = namer(state.build_suffix or "") }
  for _, entry in ipairs(state.entries) do
    for _, program in ipairs(entry.programs) do
      name_joints(program, state, seen)
      programs.each(program, function(step)
        local visit = visitors[step.form]
        if visit then visit(step, state, seen) end
      end)
      find_series(program, state, seen)
    end
  end
  state.fallbacks = fallbacks_of(state)
end

-- Returns a function as text: the strips of a product, and where its sums are if it is fused with a map.
local function function_text(fn)
  local kernel = fn.step.kernel
  return ("function %s%s%s"):format(fn.name, kernel and kernel.strips and ": " .. kernel_text.of(kernel) or "",
    fn.joint and (fn.joint.is_local and ", sums on the stack" or ", sums in place") or "")
end

-- Appends a panel loop: its calls, and the bytes from panel to panel of each operand.
local function series_text(each, lines)
  lines[#lines + 1] = ("function %s: %d panels"):format(each.name, each.count)
  for _, call in ipairs(each.calls) do
    local strides = {}
    for i, operand in ipairs(call.operands) do strides[i] = ("%s + %d"):format(operand.name, operand.stride) end
    lines[#lines + 1] = ("  %s(%s)"):format(calls.callee(call.step, call.pair), table.concat(strides, ", "))
  end
end

--- Returns kernel shapes with their strips in C, batches, row operations and panel loops as text.
function kernels.dump(state)
  local lines = {}
  for i, k in ipairs(state.kernels) do
    lines[#lines + 1] = ("kernel %d: m %d n %d k %d lda %d ldb %d ldc %d beta %d, %s = %s x %s, sums %s, or %s"):format(
      i - 1, k.m, k.n, k.k, k.lda, k.ldb, k.ldc, k.beta, k.types.c, k.types.b, k.types.a, k.types.sum,
      kernel_text.strips(k.fallback))
  end
  for _, batch in ipairs(state.batches) do
    lines[#lines + 1] = ("batch %s: %d blocks, %d and %d bytes apart"):format(batch.name, batch.count, batch.a, batch.b)
  end
  for _, fn in ipairs(state.functions) do lines[#lines + 1] = function_text(fn) end
  for _, each in ipairs(state.series) do series_text(each, lines) end
  return table.concat(lines, "\n") .. "\n"
end

return kernels
