-- bound.lua: lists the work of a call of an entry for its bound (runtime/measure/bound.h).
-- The list has each distinct product without its epilogue, each product of attention and each row operation, with the
-- number of times that a call runs it. All but the first become thunks on scratch memory.
local c = require("common.c")
local calls_of = require("passes.common.calls")
local footprint = require("data.footprint")
local operands = require("data.operands")
local panel_loops = require("passes.common.panel_loops")
local programs = require("passes.common.programs")
local storage = require("data.storage")
local types = require("data.types")
local words = require("common.words")

local emit_bound = {}

local function braces(list) return "{ " .. table.concat(list, ", ") .. " }" end

local function each_of(list, make)
  local texts = words.map(list, make)
  return braces(texts)
end

--- Returns a candidate's tiles as a C initialiser of attn2c_candidate.
function emit_bound.candidate(tiles)
  local panels = each_of(tiles.panels, function(p) return braces { p.count, p.width, p.outputs, p.ld } end)
  local function strip(each) return braces { each.count, each.rows } end
  local blocks = each_of(tiles.blocks, function(b) return braces { b.count, b.rows, each_of(b.strips, strip) } end)
  local k = tiles.k
  return braces { c.string(tiles.text), panels, blocks, braces { k.size, k.count, k.tail }, tiles.ahead }
end

-- Returns a product as calls on own memory: { calls = lines of C on k, w, x and y; floats = of its weights; text }.
local function own_of(state, fusion, region)
  local op, calls, shape = nil, {}, nil
  for i, each in ipairs(state.graph.entry.ops) do if each == fusion.leading then op = i end end
  local columns = not storage.is_of_unit(state.plan.storage[fusion.result.name])
  local first, panel, column, block, takes_kernels = nil, 0, 0, nil, false
  local parts, done = fusion.leading.operands.pairs and 3 or 1, 0 -- parts of a product of windows in pairs
  programs.each(state.programs[1], function(step)
    if step.form ~= "product" or step.op ~= op or step.region ~= region then return end
    local k, a = step.kernel, step.arguments.a
    if step.block ~= block then panel, column, block = 0, 0, step.block end
    first = first or a.offset
    local row = region.blocks[step.block].first // (parts > 1 and 2 or 1)
    local function of(type, pointer) return type == "f32" and pointer or ("(%s *)%s"):format(types.c(type), pointer) end
    local w, x, y = of(k.types.a, "w"):gsub("^%(", "(const "), of(k.types.b, "x"):gsub("^%(", "(const "),
      of(k.types.c, "y")
    local at_column, count = column, panel_loops.count(step)
    for number = 0, count - 1 do
      local at = a.offset - first + number * panel_loops.stride(a)
      calls[#calls + 1] = calls_of.text(step, nil, { c.plus(w, types.elements(at, k.types.a)),
        c.plus(x, row * k.ldb), c.plus(y, row * k.ldc + (columns and at_column or 0)) })
      at_column = at_column + fusion.panels.widths[panel + number + 1]
    end
    done = done + 1
    if done % parts == 0 then panel, column = panel + count, at_column end
    takes_kernels = takes_kernels or step.takes_kernels
    shape = shape or k
  end)
  local floats = 0
  for _, width in ipairs(fusion.panels.widths) do
    floats = floats + types.elements(types.panel_bytes(fusion.leading.operands.weight.shape[2],
      types.whole_lines(width, "f32"), fusion.panels.type), "f32")
  end
  return { calls = calls, floats = floats, ldb = shape.ldb, ldc = shape.ldc,
    text = ("panel %d, %d tokens, %s"):format(fusion.panels.widths[1], region.blocks[1].count,
      takes_kernels and "libxsmm" or "in C") }
end

-- Returns the values of the planned products, and the distinct lists of their candidates.
local function products_of(state)
  local list, lists, number_of = {}, {}, {}
  for i, planned in ipairs(state.plan.bound) do
    local product, tiles = setmetatable({ list = 0, list_count = 0 }, { __index = planned }),
      state.spec.kernels ~= "c" and planned.candidates
    if tiles and not number_of[tiles] then
      local texts = words.map(tiles, emit_bound.candidate)
      lists[#lists + 1] = texts
      number_of[tiles] = #lists
    end
    if tiles then product.list, product.list_count = number_of[tiles], #tiles end
    product.own = own_of(state, planned.fusion, planned.region)
    product.ldb, product.ldc = math.max(product.ldb, product.own.ldb), math.max(product.ldc, product.own.ldc)
    list[i] = product
  end
  return list, lists
end

-- Returns a row operation as a call on scratch memory. Each operand has a stretch of its own, as long as its
-- footprint; an integer that is known only at run time has its largest value.
local function row_of(step)
  local at, list = 0, {}
  operands.each(step, function(operand, access, declared, _, operation)
    if access == "value" then
      list[#list + 1] = tostring(operand.most)
      return
    end
    local type = operands.type(step, declared)
    local dimensions = footprint.in_bytes(declared[3](operands.known(step, operation)), types.bytes(1, type))
    local low, high = footprint.reach(dimensions)
    local pointer = c.plus("x", types.elements(at - low, "f32"))
    list[#list + 1] = type ~= "f32" and ("(%s *)(%s)"):format(types.c(type), pointer) or pointer
    at = at + types.line_bytes(high - low + 1) + types.LINE -- so that not all are at the same offset in a page
  end)
  local k = step.form == "product" and step.kernel
  return { name = k and ("attention %d x %d x %d"):format(k.m, k.n, k.k) or step.function_name,
    flops = c.double(k and 2.0 * k.m * k.n * k.k or 0.0),
    call = calls_of.text(step, nil, list),
    floats = types.elements(at, "f32"), calls = 0 }
end

--- Returns the values of the templates: bound_products, bound_rows, each with calls as a C double; bound_candidates:
--- lists of initialisers. All are empty for an entry of any length or with experts, whose work depends on the call.
function emit_bound.values(state)
  if state.plan.depends_on_call then
    return { bound_products = {}, bound_candidates = {}, bound_rows = {} }
  end
  local rows, by_key = {}, {}
  programs.each_call(state.programs[1], function(step, times)
    if step.form == "product" and step.region.kind ~= "attention" or calls_of.takes_ranks(step) then return end
    local key = step.function_name
    if not by_key[key] then
      by_key[key] = row_of(step)
      rows[#rows + 1] = by_key[key]
    end
    by_key[key].calls = by_key[key].calls + times
  end)
  local products, lists = products_of(state)
  for _, list in ipairs { products, rows } do
    for _, part in ipairs(list) do part.calls = c.double(part.calls + 0.0) end
  end
  return { bound_products = products, bound_candidates = lists, bound_rows = rows }
end

return emit_bound
