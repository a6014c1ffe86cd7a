-- functions.lua: writes the C function of a row operation, a map, a product, or a fused kernel.
-- The values are for one function of the templates ops.h.in, ops.c.in and kernels.c.in.
local activations = require("data.activations")
local libxsmm = require("kernels.libxsmm")
local operands = require("data.operands")
local product = require("kernels.product")
local sentences = require("passes.emit.sentences")
local steps = require("data.steps")
local types = require("data.types")
local words = require("common.words")

local functions = {}

-- Returns a snippet of an elementwise operation, filled in.
local function code_of(snippet, operation, row)
  if operation.argument then snippet = snippet:format(operation.argument) end
  return steps.fill(snippet, steps.constants_of(operation, row))
end

-- Returns the place of a map's last activation, if it is computed for whole rows with vectors of `lanes`; nothing but a
-- rounding of rows comes after it.
local function place_of_row_form(list, lanes)
  local place = #list - (steps.elementwise[list[#list].kind].rounds and 1 or 0)
  local last = list[place]
  return last and last.kind == "activate" and activations.by_name[last.fn].row_lanes == lanes and place or nil
end

-- Returns the loops of a map over its rows, as lines of C.
-- bounds: from the first row to the end; strip: nil, or for the map of a strip { sums: whether it loads from an array
-- that begins with row `first`; cols: C text of its columns, if not all; copies: whether each row has its own copy of
-- the code }
-- Rows of bf16 are rounded as wholes; a map that only rounds reads them in place. Floats that other operations
-- compute are rounded in a loop of their own, since one loop would have more constants than AVX2 has registers.
local function loops_of(map, bounds, lanes, strip)
  local k, code, list, line = operands.named(map.constants), {}, map.elementwise, "line"
  local of_row, then_row = {}, nil
  local first, rounds = list[1], steps.elementwise[list[#list].kind].rounds
  local loads = steps.elementwise[first.kind].loads
  local again = #list > (loads and 2 or 1) and steps.elementwise[list[#list].kind].in_place
  strip = strip or {}
  local row, cols = strip.sums and "(i - first)" or "i", strip.cols or k.cols
  local by_row, tile_row = place_of_row_form(list, lanes), ("y + i * %d"):format(k.ld)
  if rounds and loads and #list == 2 then
    line = ("%s + %s * %d"):format(first.argument, row, first.ld)
  else
    if not loads then code[1] = "float v = y[i * " .. k.ld .. " + j];" end
    for i = 1, by_row and by_row - 1 or (rounds or again) and #list - 1 or #list do
      local operation, following = steps.elementwise[list[i].kind], list[i + 1] and list[i + 1].kind
      local before = list[i - 1] and list[i - 1].kind
      if operation.of_row then of_row[#of_row + 1] = code_of(operation.of_row, list[i], row) end
      if not following then then_row = operation.then_row end
      local text = operation.before and operation.before[following] or operation.after and operation.after[before]
        or not following and operation.at_end or operation.code
      code[#code + 1] = text and code_of(text, list[i], row)
    end
    code[#code + 1] = (rounds or by_row) and "line[j] = v;" or ("y[i * %d + j] = v;"):format(k.ld)
  end
  local lines = {}
  local function add(text) lines[#lines + 1] = text end
  if strip.copies then add("  ATTN2C_ALL_COPIES") end
  add(("  for (size_t i = %s; i++) {"):format(bounds))
  if #code > 0 then
    if rounds or by_row then add(("    float line[%d];"):format(map.constants.cols)) end
    for _, text in ipairs(of_row) do add("    " .. text) end
    add("#pragma omp simd")
    add(("    for (size_t j = 0; j < %s; j++) {"):format(cols))
    for _, text in ipairs(code) do add("      " .. text) end
    add("    }")
  end
  if by_row then
    add(("    attn2c_%s_row(%s, line, %s);"):format(list[by_row].fn, rounds and "line" or tile_row, cols))
  end
  if then_row then add("    " .. then_row:format(tile_row, cols)) end
  if rounds then add(("    attn2c_round_row(%s, %s, %s);"):format(tile_row, line, cols)) end
  add("  }")
  if again then add(("  for (size_t i = %s; i++) %s"):format(bounds, again:format(tile_row, tostring(cols)))) end
  return lines
end

-- Appends the open sizes of a step to a function's parameters; borders of masks may be negative.
local function add_open(step, formal)
  operands.each_open(step, function(name)
    formal[#formal + 1] = ((name == "lo" or name == "hi") and "int " or "size_t ") .. name
  end)
end

-- Returns a step's operands as a function's parameters, and appends the names of absent operands to `absent`.
local function pointers_of(step, absent)
  local formal = {}
  -- Operations do not read each other's tiles, but a loaded tile may be where the result goes.
  local loads = step.form == "map" and steps.elementwise[step.elementwise[1].kind].loads
  local pointer = step.form == "map" and not loads and "%s%s *restrict %s" or "%s%s *%s"
  operands.each(step, function(_, access, declared, name)
    formal[#formal + 1] = access == "value" and "int " .. name
      or pointer:format(access == "r" and "const " or "", types.c(operands.type(step, declared)), name)
  end, function(declared) absent[#absent + 1] = declared[1] end)
  return formal
end

-- Returns the same with the open sizes.
local function formal_of(step, absent)
  local formal = pointers_of(step, absent)
  add_open(step, formal)
  return formal
end

-- The parameter of functions that call libxsmm's kernels.
local function formal_kernels(fn) return fn.calls and "const attn2c_kernel *kernels, " or "" end

-- Returns the body of a product as lines of C.
local function body_of(fn, kernel, lanes, after_strip)
  local in_c = product.body(kernel, lanes, kernel.beta, "a", "b", after_strip)
  return fn.calls and libxsmm.either(kernel, fn.calls, in_c, after_strip) or in_c
end

-- Returns true if an elementwise operation's operand has the tile's columns, false if it has none or there is no
-- operand; nil if its columns are in another order.
local function has_columns(operation)
  local declared = steps.elementwise[operation.kind].operands[1]
  local footprint = declared and declared[3] { rows = 2, cols = 3, ld = 5 } or {}
  local columns = footprint[#footprint] or { 1 }
  if columns[1] == 1 then return false end
  return columns[2] == 1 or nil
end

-- True if the map after a product may work on the outputs of only one strip: its operations see no others, and rows
-- are not rounded as wholes.
local function takes_outputs(map)
  for _, operation in ipairs(map.elementwise) do
    local of = steps.elementwise[operation.kind]
    if has_columns(operation) == nil or of.rounds or of.in_place then return false end
  end
  return true
end

-- Returns a map that loads sums with another leading dimension.
local function with_ld_of_sums(map, ld)
  local list = table.move(map.elementwise, 1, #map.elementwise, 1, {})
  list[1] = setmetatable({ ld = ld }, { __index = list[1] })
  return setmetatable({ elementwise = list }, { __index = map })
end

-- Returns the C function of a product fused with the map after it. A function for the map of some rows comes before it.
-- A strip's sums are on the stack if only the map reads them, else in the map's tile. If a call knows the number of
-- rows, it is the product's n. Otherwise the map has a copy for each row of a strip. The compiler then finds that the
-- map loads what the strip stores, and keeps the sums in registers. Storing costs 1.5 multiply-adds of bytes (Zen 4).
local function fused_kernel_of(fn, lanes)
  local k, map = fn.step.kernel, fn.fused_kernel.map
  local formal = { ("const %s *a"):format(types.c(k.types.a)), ("const %s *b"):format(types.c(k.types.b)) }
  local of_rows, names = pointers_of(map, {}), {}
  local has_outputs = {} -- whether an operand has the product's outputs; the strip's sums begin where they are
  operands.each(map, function(_, _, _, name, operation)
    names[#names + 1] = name
    has_outputs[#names] = not operation or has_columns(operation)
      and not steps.elementwise[operation.kind].loads
  end)
  for i, text in ipairs(of_rows) do
    if not (fn.fused_kernel.is_local and i == 2) then formal[#formal + 1] = text end -- y, then what it loads
  end
  add_open(fn.step, formal)
  local kernel, after_strip, code, strip = k, { c = "y" }, {}, {}
  if fn.fused_kernel.is_local then
    local most, widest, groups = 0, 0, 0
    for _, rows in ipairs(k.strips.strips) do most = math.max(most, rows.size) end
    for _, group in ipairs(k.strips.groups) do
      widest, groups = math.max(widest, group.size * lanes), groups + group.count
    end
    -- A product's outputs may be padded, and the map has no padding: strips of several groups leave it out.
    local outputs = groups > 1 and math.min(k.m, map.constants.cols) or k.m
    local in_outputs = not k.open and not fn.calls and takes_outputs(map) and k.m <= words.round_up(outputs, lanes)
    local ld = in_outputs and math.min(widest, k.m) or map.elementwise[1].ld
    kernel = setmetatable({ m = in_outputs and outputs or k.m, ldc = ld }, { __index = k })
    map = with_ld_of_sums(map, ld)
    after_strip = { c = "x", one_strip = true, by_group = in_outputs }
    strip = { sums = true, cols = in_outputs and groups > 1 and "cols", copies = in_outputs and outputs % lanes == 0 }
    code[1] = ("%s x[%d] __attribute__((aligned(64)));"):format(types.c(k.types.c), most * ld)
  end
  function after_strip.line(first, rows, from, cols)
    local given = words.map(names, function(name, i) return from and has_outputs[i] and from(name) or name end)
    return ("rows_of_%s(%s, %s, %s%s);"):format(fn.name, table.concat(given, ", "), first, rows,
      strip.cols and ", " .. cols or "")
  end
  function after_strip.before(first, rows)
    local lines = {}
    for _, operation in ipairs(map.elementwise) do
      if steps.elementwise[operation.kind].reads_rows then
        lines[#lines + 1] = ("attn2c_ask_rows(%s + (%s) * %d, %s, %d, %d);"):format(operation.argument, first,
          operation.ld, rows, map.constants.cols, operation.ld)
      end
    end
    return lines
  end
  for _, line in ipairs(body_of(fn, kernel, lanes, after_strip)) do code[#code + 1] = line end
  return { name = fn.name, formal = formal_kernels(fn) .. table.concat(formal, ", "), is_product = true, code = code,
    sentence = ("%s\n * and of each strip's rows%s: %s"):format(sentences.product(fn.step, fn.calls),
      fn.fused_kernel.is_local and ", C being x" or "", sentences.map(map)),
    rows_formal = table.concat(of_rows, ", ") .. ", size_t first, size_t rows"
      .. (strip.cols and ", size_t cols" or ""),
    rows_kind = k.open and "ATTN2C_APART" or "ATTN2C_STRIP",
    rows_lines = loops_of(map, "first; i < first + rows", lanes, strip) }
end

--- Returns a row operation or a product as a C function: comment, signature, body.
function functions.values(fn, lanes)
  local step = fn.step
  if fn.fused_kernel then return fused_kernel_of(fn, lanes) end
  if step.form == "product" then
    local of = step.kernel.types
    local formal = { ("%sconst %s *a, const %s *b, %s *c"):format(formal_kernels(fn), types.c(of.a), types.c(of.b),
      types.c(of.c)) }
    add_open(step, formal)
    return { name = fn.name, formal = table.concat(formal, ", "), is_product = true,
      sentence = sentences.product(step, fn.calls), code = body_of(fn, step.kernel, lanes) }
  end
  local absent = {}
  local formal = formal_of(step, absent)
  if step.form == "row" then
    local form = steps.rows[step.fn]
    local body = steps.fill(form.body, operands.named(step.constants))
    for _, name in ipairs(absent) do body = body:gsub("([%(, ])" .. name .. "([,%)])", "%1NULL%2") end
    if form.meets then table.insert(formal, 1, "attn2c_ranks *ranks") end
    return { name = fn.name, formal = table.concat(formal, ", "), sentence = sentences.row(step, absent),
      simple = true, body = body .. ";" }
  end
  return { name = fn.name, formal = table.concat(formal, ", "), sentence = sentences.map(step), simple = false,
    lines = loops_of(step, ("0; i < %s"):format(operands.named(step.constants).rows), lanes) }
end

return functions
