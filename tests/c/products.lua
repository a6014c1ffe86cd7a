-- products.lua TARGET [few]: prints products as the compiler emits them for a target, each in three layouts (few:
-- two), and a table of them, for test_product.c and product_bits.c.
package.path = "gen/?.lua;" .. package.path

local product = require("kernels.product")
local registers = require("passes.plan.registers")
local targets = require("data.targets")
local ahead = require("passes.plan.ahead").of
local types = require("data.types")

local target = targets.by_name[arg[1] == "base" and "x86_64" or arg[1]]

-- m, n, k
local SHAPES = { { 1, 1, 1 }, { 16, 1, 64 }, { 64, 15, 40 }, { 17, 2, 3 }, { 40, 9, 17 }, { 63, 7, 16 }, { 15, 8, 1 },
  { 32, 32, 32 }, { 48, 24, 33 }, { 65, 3, 127 }, { 8, 12, 64 }, { 127, 17, 5 }, { 3, 6, 64 } }

local kernels, functions, rows = {}, {}, {}
for _, shape in ipairs(SHAPES) do
  local m, n, k = table.unpack(shape)
  for _, padding in ipairs(arg[2] == "few" and { 0, 16 } or { 0, 5, 16 }) do
    for beta = 0, 1 do
      local kernel = { m = m, n = n, k = k, lda = m + padding, ldb = k + padding, ldc = m + 2 * padding, beta = beta,
        types = types.f32_product, a_room = false }
      if padding == 16 then -- a packed panel, whose weights are asked for ahead
        kernel.lda, kernel.a_room = types.whole_lines(m, "f32"), true
      end
      kernel.strips = registers.strips(m, n, k, target, padding == 5 and 4 or n, not kernel.a_room)
      if padding == 16 then
        kernel.fetch = ahead(kernel, kernel.strips, { fetch = 1, stream = 8192 }, target.vector)
      end
      kernels[#kernels + 1] = kernel
      functions[#functions + 1] = ("static __attribute__((noinline)) void product_%d(const float *a, const float *b, "
        .. "float *c) {\n  %s\n}"):format(#rows,
          table.concat(product.body(kernel, target.vector, beta, "a", "b"), "\n  "))
      rows[#rows + 1] = ("    {%d, %d, %d, %d, %d, %d, %d, %d, product_%d},"):format(m, n, k, kernel.lda, kernel.ldb,
        kernel.ldc, beta, kernel.a_room and 1 or 0, #rows)
    end
  end
end
print("/* Made by tests/c/products.lua. */")
print(table.concat(product.strips(kernels), "\n\n"))
print(table.concat(functions, "\n\n"))
print("static const product products[] = {\n" .. table.concat(rows, "\n") .. "\n};")
