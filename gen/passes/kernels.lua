-- kernels.lua: names the distinct products, row operations and panel loops of all entries' programs, and gives each
-- product its body: C, or kernels of libxsmm, which are numbered in order of first use.
--
-- Before: programs with fused_kernels and offsets; build_suffix: the end of functions' names if there are several
-- targets.
-- After:
--   state.kernels          the shapes of libxsmm's kernels
--   state.functions        { name, step, fused_kernel: of schedule/fused_kernels.lua, if it is one; calls: from
--                          kernels/libxsmm.lua, if libxsmm makes the product }; fused kernels have names
--   state.panel_loops      from kernels/panel_loops.lua, one for each function
--   program.panel_loops    first step -> its panel loop, with its name
--   program.in_panel_loop  a set of the other steps of these
--   program.shared         list of steps -> the function of alike lists (kernels/shared.lua)
--   step.function_name     of each product, map and row step
--   takes_kernels          of products and fused kernels that calls of libxsmm make
local calls = require("passes.common.calls")
local kernel_text = require("passes.common.kernel_text")
local libxsmm = require("kernels.libxsmm")
local names = require("passes.kernels.names")
local operands = require("data.operands")
local programs = require("passes.common.programs")
local panel_loops = require("passes.kernels.panel_loops")
local shared = require("passes.kernels.shared")
local steps = require("data.steps")

local kernels = {}

-- Forms of steps that call a function of their own.
local is_named = { product = true, map = true, row = true }

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

-- Returns the calls of libxsmm that make a product, each shape with its index in the list of kernels.
local function calls_of(step, pair, state, seen)
  local made = libxsmm.calls(step.kernel, step.region.kind ~= "attention", pair ~= nil)
  for _, strip in ipairs(made.strips) do
    for _, which in ipairs { "first", "next", "tail" } do
      local shape = strip[which]
      local key = shape and shape_key(shape)
      if shape and not seen.kernels[key] then
        state.kernels[#state.kernels + 1] = shape
        seen.kernels[key] = #state.kernels - 1
      end
      if shape then shape.index = seen.kernels[key] end
    end
  end
  return made
end

-- Returns the function of a step, or of a product with the map after it.
local function function_of(step, state, seen, pair)
  local node = operands.alike(seen.steps, step)
  if pair then node = operands.alike(node, pair.map) end
  local place = pair and pair.is_local and "sums on the stack" or "sums in place"
  if not node[place] then
    local base = base_name(step) .. (pair and "_" .. doing(pair.map) or "")
    node[place] = seen.namer:find(base, names.facts(step, pair), function()
      local fn = { step = step, fused_kernel = pair,
        calls = step.form == "product" and step.kernel.by_libxsmm and calls_of(step, pair, state, seen) or nil }
      state.functions[#state.functions + 1] = fn
      return fn
    end)
  end
  return node[place]
end

-- Finds the functions of a program's products, maps and row operations, and of products fused with the map after them.
local function find_functions(program, state, seen)
  programs.each(program, function(step)
    local pair = program.fused_kernels[step]
    if pair then
      pair.takes_kernels = step.kernel.by_libxsmm
      seen.found[pair] = function_of(step, state, seen, pair)
    end
  end)
  programs.each(program, function(step)
    if not is_named[step.form] then return end
    seen.found[step] = function_of(step, state, seen)
    if step.form == "product" then step.takes_kernels = step.kernel.by_libxsmm end
  end)
end

-- Returns the name of a panel loop, panels_128x768x768_bias: all its outputs, and each panel's epilogue.
local function loop_name(each)
  local k, parts = each.kernel, {}
  local type = k.types.a == "f32" and "" or k.types.a .. "_"
  parts[1] = ("%s_%s%sx%dx%d"):format(k.experts and "experts_" .. k.experts or "panels", type, operands.named(k).n,
    each.count * k.m, k.k)
  for i, call in ipairs(each.calls) do
    local map = call.pair and call.pair.map or call.step.form == "map" and call.step
    local what = map and doing(map) or call.step.fn or i > 1 and "product" or nil
    if what ~= parts[#parts] then parts[#parts + 1] = what end
  end
  return table.concat(parts, "_")
end

-- Finds the panel loops of a program. Functions that are called tell alike loops apart, or the places in panels.
local function find_panel_loops(program, state, seen)
  program.panel_loops, program.in_panel_loop = {}, {}
  programs.each_list(program, function(list)
    for _, each in ipairs(panel_loops.of(program, list)) do
      local facts = { { "panels", panel_loops.key(each), "" } }
      for i, call in ipairs(each.calls) do
        local fn = seen.found[call.pair or call.step]
        facts[i + 1] = { "call " .. i, fn.name, fn.ending:sub(2) }
      end
      seen.loops[each] = seen.namer:find(loop_name(each), facts, function()
        state.panel_loops[#state.panel_loops + 1] = each
        return each
      end)
      program.panel_loops[each.steps[1]] = each
      for i = 2, #each.steps do program.in_panel_loop[each.steps[i]] = true end
    end
  end)
end

-- Calls visit(program, entry) for each program of all entries.
local function each_program(state, visit)
  for _, entry in ipairs(state.entries) do
    for _, program in ipairs(entry.programs) do visit(program, entry) end
  end
end

function kernels.run(state)
  state.kernels, state.functions, state.panel_loops = {}, {}, {}
  local seen = { kernels = {}, steps = {}, found = {}, loops = {},
    namer = names.namer(state.build_suffix or "") }
  each_program(state, function(program) find_functions(program, state, seen) end)
  seen.namer:name_all()
  for of, fn in pairs(seen.found) do of[of.form and "function_name" or "name"] = fn.name end
  each_program(state, function(program) find_panel_loops(program, state, seen) end)
  seen.namer:name_all()
  for each, fn in pairs(seen.loops) do each.name = fn.name end
  each_program(state, function(program, entry) shared.find(program, programs.places(entry, program)) end)
end

-- Returns a function as text: the strips of a product, its kernels of libxsmm, and its sums' place if it is fused.
local function function_text(fn)
  local kernel = fn.step.kernel
  return ("function %s%s%s%s"):format(fn.name, kernel and ": " .. kernel_text.of(kernel) or "",
    fn.calls and ", by " .. libxsmm.text(fn.calls) or "",
    fn.fused_kernel and (fn.fused_kernel.is_local and ", sums on the stack" or ", sums in place") or "")
end

-- Appends a panel loop: its calls, and the bytes from panel to panel of each operand.
local function loop_text(each, lines)
  lines[#lines + 1] = ("function %s: %d panels"):format(each.name, each.count)
  for _, call in ipairs(each.calls) do
    local strides = {}
    for i, operand in ipairs(call.operands) do strides[i] = ("%s + %d"):format(operand.name, operand.stride) end
    lines[#lines + 1] = ("  %s(%s)"):format(calls.callee(call.step, call.pair), table.concat(strides, ", "))
  end
end

--- Returns shapes of libxsmm's kernels, functions and panel loops as text.
function kernels.dump(state)
  local lines = {}
  for i, k in ipairs(state.kernels) do
    lines[#lines + 1] = ("kernel %d: m %d n %d k %d lda %d ldb %d ldc %d beta %d, %s = %s x %s, sums %s"):format(
      i - 1, k.m, k.n, k.k, k.lda, k.ldb, k.ldc, k.beta, k.types.c, k.types.b, k.types.a, k.types.sum)
  end
  for _, fn in ipairs(state.functions) do lines[#lines + 1] = function_text(fn) end
  for _, each in ipairs(state.panel_loops) do loop_text(each, lines) end
  return table.concat(lines, "\n") .. "\n"
end

return kernels
