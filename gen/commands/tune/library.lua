-- library.lua: writes the C of many candidates of one product. It is compiled into one library, which
-- runtime/tools/products.c loads and times.
local product = require("kernels.product")
local types = require("data.types")
local words = require("common.words")

local library = {}

-- Appends the functions of a candidate's products; returns the body that calls them, panel by panel, block by block.
-- names: text of a function -> its name, for functions that are there; count: their number.
local function body_of(code, calls, lanes, names)
  local lines, of, row = {}, calls.types, 0
  local is_open = calls.panels[1].product[0] ~= nil
  for _, block in ipairs(calls.blocks) do
    for _, panel in ipairs(calls.panels) do
      local p = panel.product[is_open and 0 or block.count]
      local text = table.concat(product.body(p, lanes, p.beta, "a", "b"), "\n  ")
      if not names[text] then
        names.count = names.count + 1
        names[text] = ("product_%d"):format(names.count)
        -- noinline: the compiler must not specialise what a model calls
        code[#code + 1] = ("static __attribute__((noinline)) void %s(const %s *a, const %s *b, %s *c%s) {\n  %s\n}")
          :format(names[text], types.c(of.a), types.c(of.b), types.c(of.c), is_open and ", size_t n" or "", text)
      end
      lines[#lines + 1] = ("  %s((const %s *)a + %d, (const %s *)b + %d, (%s *)c + %d%s);"):format(names[text],
        types.c(of.a), panel.at, types.c(of.b), row * calls.ldb, types.c(of.c), row * calls.ldc + panel.column,
        is_open and (", %d"):format(block.count) or "")
    end
    row = row + block.count
  end
  return table.concat(lines, "\n")
end

--- Returns the C text of a library with the calls (calls.lua) of candidates of one product. lanes: floats of a vector.
function library.text(list, lanes)
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
  for _, part in ipairs { product.strips(kernels), code, bodies } do table.move(part, 1, #part, #parts + 1, parts) end
  parts[#parts + 1] = ("void (*const candidates[])(const void *, const void *, void *) = { %s };"):format(
    table.concat(list_of, ", "))
  parts[#parts + 1] = ("const int candidate_count = %d;"):format(#list)
  parts[#parts + 1] = ("const size_t operand_bytes[3] = { %s };\n"):format(table.concat(bytes, ", "))
  return table.concat(parts, "\n")
end

return library
