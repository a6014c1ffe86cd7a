-- typed_products.lua TARGET: prints products of bf16, int8 and u8 (the weights of an attention) as the compiler emits
-- them for a target, each with and without weights asked for ahead and added to C, and tables of them, for
-- typed_products.c.
package.path = "gen/?.lua;" .. package.path

local product = require("kernels.product")
local registers = require("passes.plan.registers")
local targets = require("data.targets")
local ahead = require("passes.plan.ahead").of
local types = require("data.types")

local target = targets.by_name[arg[1]]

-- m, n, k; AVX2 splits the panels of int8 of the last two
local SHAPES = { { 1, 1, 1 }, { 16, 1, 64 }, { 64, 15, 40 }, { 17, 2, 3 }, { 40, 9, 17 }, { 63, 7, 16 }, { 15, 8, 2 },
  { 48, 24, 33 }, { 65, 3, 127 }, { 128, 1, 95 }, { 36, 64, 34 }, { 48, 13, 768 }, { 8, 5, 2051 },
  { 16, 26, 131 }, { 13, 23, 34 } }

-- Tiles have all numbers of rows up to one more than two tiles, and outputs that end anywhere in a tile. Inputs end
-- anywhere in a step and in a group, or come in equal steps or several K blocks.
if target.has_tiles then
  for rows = 1, 33 do SHAPES[#SHAPES + 1] = { rows, rows, 64 + rows % 4 } end
  for outputs = 1, 33, 7 do SHAPES[#SHAPES + 1] = { outputs, 19, 70 } end
  for inputs = 64, 131, 7 do SHAPES[#SHAPES + 1] = { 24, 18, inputs } end
  for _, inputs in ipairs { 450, 845, 1664 } do SHAPES[#SHAPES + 1] = { 40, 70, inputs } end -- several K blocks
end

-- Sizes that only a call knows, in tiles: { open, most: the greatest m, n and k, and then the m, n and k of calls }.
local OPEN = target.has_tiles and {
  { "n", most = { 40, 70, 1664 }, { 40, 1, 1664 }, { 40, 33, 1664 }, { 40, 70, 1664 } },
  { "n", most = { 30, 64, 450 }, { 30, 16, 450 }, { 30, 17, 450 }, { 30, 64, 450 } },
  { "n m", most = { 128, 64, 64 }, { 16, 1, 64 }, { 32, 33, 64 }, { 48, 64, 64 }, { 128, 17, 64 } },
  { "n m", most = { 16, 64, 72 }, { 16, 32, 72 } },
  { "n k", most = { 64, 64, 512 }, { 64, 1, 1 }, { 64, 20, 31 }, { 64, 64, 512 }, { 64, 50, 131 }, { 64, 5, 70 } },
  { "n k", most = { 40, 16, 17 }, { 40, 16, 16 }, { 40, 3, 17 } },
} or {}

local kernels, functions, tables = {}, {}, {}

-- Adds a kernel as a C function that begins with `sizes`, constants; returns its row in a table for a call { m, n, k }.
local function add(kernel, call, sizes)
  local of, id = kernel.types, #functions
  kernels[#kernels + 1] = kernel
  functions[#functions + 1] = ("static __attribute__((noinline)) void product_%d(const void *of_a, const void *of_b, "
    .. "void *of_c) {\n  const %s *a = of_a;\n  const %s *b = of_b;\n  %s *c = of_c;\n  %s\n}"):format(id,
      types.c(of.a), types.c(of.b), types.c(of.c),
      sizes .. table.concat(product.body(kernel, target.vector, kernel.beta, "a", "b"), "\n  "))
  local m, n, k = table.unpack(call)
  return ("    {%d, %d, %d, %d, %d, %d, %d, %d, %d, product_%d},"):format(m, n, k, kernel.lda, kernel.ldb, kernel.ldc,
    kernel.beta, kernel.strips.step or 0, types.panel_bytes(k, kernel.lda, of.a), id)
end
for _, of in ipairs { types.product("bf16"), types.product("bf16", "f32"), types.product("i8"),
  types.product("s8") } do
  local name, rows = of.word .. (of.b == "f32" and "_floats" or ""), {}
  for number, shape in ipairs(name == "bf16_floats" and { table.unpack(SHAPES, 1, 13) } or SHAPES) do
    local m, n, k = table.unpack(shape)
    for beta = 0, 1 do
      local kernel = { m = m, n = n, k = k, lda = types.whole_lines(m, "f32"), ldb = k + number % 3,
        ldc = m + number % 2, beta = beta, types = of, a_room = true }
      if name ~= "int8" and beta == 1 then -- as keys lie: a panel no wider than its outputs
        kernel.lda, kernel.a_room = m, m % target.vector == 0
      end
      kernel.strips = registers.strips(m, n, k, target, number % 4 == 3 and 4 or n, not kernel.a_room, of)
      if number % 2 == 0 then
        kernel.fetch = ahead(kernel, kernel.strips, { fetch = 1, stream = 8192 }, target.vector)
      end
      rows[#rows + 1] = add(kernel, shape, "")
    end
  end
  for number, open in ipairs(of.b == "f32" and {} or OPEN) do
    local m, n, k = table.unpack(open.most)
    local strips = open[1] == "n" and registers.open_panel(m, k, target, n, of)
      or registers.open_tiles(m, k, target, of, open[1])
    for i = 2, #open do
      local kernel = { open = open[1], m = m, n = n, k = k, lda = types.whole_lines(m, "f32"), ldb = k + number % 3,
        ldc = m + number % 2, beta = number % 2, types = of, a_room = true, strips = strips }
      local sizes = ""
      for at, size in ipairs { "m", "n", "k" } do
        if open[1]:find(size, 1, true) then
          sizes = sizes
            .. ("volatile size_t of_%s = %d;\n  const size_t %s = of_%s;\n  "):format(size, open[i][at], size, size)
        end
      end
      rows[#rows + 1] = add(kernel, open[i], sizes)
    end
  end
  tables[#tables + 1] = ("static const product %s_products[] = {\n%s\n};"):format(name, table.concat(rows, "\n"))
end
print("/* Made by tests/c/typed_products.lua. */")
print(("#define HAS_TILES %d"):format(target.has_tiles and 1 or 0))
for _, file in ipairs(product.includes(kernels)) do print(('#include "%s"'):format(file)) end
print(table.concat(product.strips(kernels), "\n\n"))
print(table.concat(functions, "\n\n"))
print(table.concat(tables, "\n"))
