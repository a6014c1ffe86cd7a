-- library.lua: writes the C of many candidates of one product. It is compiled into one library, which
-- runtime/tools/products.c loads and times.
local product = require("kernels.product")
local types = require("data.types")
local words = require("common.words")

local library = {}

-- Appends the function of a product to `code`, unless one with the same text is there. Returns its name. names: text of
-- a function -> its name, and product -> its name; count: their number.
local function function_of(code, p, calls, lanes, names)
  if names[p] then return names[p] end
  local of = calls.types
  local text = table.concat(product.body(p, lanes, p.beta, "a", "b"), "\n  ")
  if not names[text] then
    names.count = names.count + 1
    names[text] = ("product_%d"):format(names.count)
    -- noinline: the compiler must not specialise what a model calls
    code[#code + 1] = ("static __attribute__((noinline)) void %s(const %s *a, const %s *b, %s *c%s) {\n  %s\n}")
      :format(names[text], types.c(of.a), types.c(of.b), types.c(of.c), p.open and ", size_t n" or "", text)
  end
  names[p] = names[text]
  return names[text]
end

-- Returns runs of items with equal keys: { first: the index of the first, count }.
local function runs_of(list, key_of)
  local runs = {}
  for i, item in ipairs(list) do
    local last = runs[#runs]
    if last and key_of(list[last.first]) == key_of(item) then
      last.count = last.count + 1
    else
      runs[#runs + 1] = { first = i, count = 1 }
    end
  end
  return runs
end

-- Returns the body that calls a candidate's products, block by block, panel by panel. Equal ones are loops: thousands
-- of lines take a compiler longer than the products do.
local function body_of(code, calls, lanes, names)
  local lines, of, row = {}, calls.types, 0
  local is_open = calls.panels[1].product[0] ~= nil
  local panels = runs_of(calls.panels, function(panel) return panel.product end)
  for _, blocks in ipairs(runs_of(calls.blocks, function(block) return block.count end)) do
    local rows = calls.blocks[blocks.first].count
    lines[#lines + 1] = ("  for (size_t row = %d; row < %d; row += %d) {"):format(row, row + blocks.count * rows, rows)
    for _, run in ipairs(panels) do
      local first, second = calls.panels[run.first], calls.panels[run.first + 1]
      local name = function_of(code, first.product[is_open and 0 or rows], calls, lanes, names)
      lines[#lines + 1] = ("    for (size_t i = 0; i < %d; i++)"):format(run.count)
      local a_step = run.count > 1 and second.at - first.at or 0
      local c_step = run.count > 1 and second.column - first.column or 0
      lines[#lines + 1] = ("      %s((const %s *)a + %d + i * %d, (const %s *)b + row * %d,\n"
        .. "        (%s *)c + row * %d + %d + i * %d%s);"):format(name, types.c(of.a), first.at, a_step, types.c(of.b),
        calls.ldb, types.c(of.c), calls.ldc, first.column, c_step, is_open and (", %d"):format(rows) or "")
    end
    lines[#lines + 1] = "  }"
    row = row + blocks.count * rows
  end
  return table.concat(lines, "\n")
end

--- Returns the C text of a library with the calls (calls.lua) of candidates of one product. lanes: floats of a vector;
--- more: { text, names }: functions that are candidates after these, or nil.
function library.text(list, lanes, more)
  local code, kernels, bodies, names, list_of = {}, {}, {}, { count = 0 }, {}
  local bytes = { 0, 0, 0 }
  for i, calls in ipairs(list) do
    local of = calls.types
    for _, panel in ipairs(calls.panels) do
      for _, p in pairs(panel.product) do kernels[#kernels + 1] = p end
    end
    list_of[i] = ("candidate_%d"):format(i)
    bodies[i] = ("static void %s(const void *a, const void *b, void *c) {\n%s\n}"):format(list_of[i],
      body_of(code, calls, lanes, names))
    bytes[1] = math.max(bytes[1], words.round_up(types.bytes(calls.elements, of.a), types.LINE))
    bytes[2] = math.max(bytes[2], types.bytes(calls.rows * calls.ldb, of.b) + 4096)
    bytes[3] = math.max(bytes[3], types.bytes(calls.rows * calls.ldc, of.c) + 4096)
  end
  local parts = { "#include <stddef.h>", '#include "ops/steps.h"' }
  for _, file in ipairs(product.includes(kernels)) do parts[#parts + 1] = ('#include "%s"'):format(file) end
  more = more or { names = {} }
  words.append(parts, product.strips(kernels), code, bodies, { more.text })
  words.append(list_of, more.names)
  parts[#parts + 1] = ("void (*const candidates[])(const void *, const void *, void *) = { %s };"):format(
    table.concat(list_of, ", "))
  parts[#parts + 1] = ("const int candidate_count = %d;"):format(#list_of)
  parts[#parts + 1] = ("const size_t operand_bytes[3] = { %s };\n"):format(table.concat(bytes, ", "))
  return table.concat(parts, "\n")
end

return library
