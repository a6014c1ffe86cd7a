-- bound_candidates.lua: prints the candidates of some products as C, as a program has them, for
-- test_bound.c: products by name, with even and odd sizes.
package.path = "gen/?.lua;" .. package.path

local candidates = require("passes.plan.candidates")
local emit_bound = require("passes.emit.bound")
local target = require("data.targets").by_name.avx2

local products = {
  { name = "even", outputs = 64, inputs = 256, rows = 64, ldb = 272, ldc = 64, pad = 1 },
  { name = "tail of outputs", outputs = 80, inputs = 40, rows = 33, ldb = 48, ldc = 80, pad = 8 },
  { name = "tail of K", outputs = 48, inputs = 521, rows = 17, ldb = 528, ldc = 48, pad = 1 },
  { name = "two tails", outputs = 140, inputs = 100, rows = 20, ldb = 112, ldc = 144, pad = 8 },
  { name = "few", outputs = 3, inputs = 5, rows = 1, ldb = 5, ldc = 16, pad = 8 },
}

print("/* Made by tests/c/bound_candidates.lua. */")
for i, product in ipairs(products) do
  print(("static const attn2c_candidate candidates_%d[] = {"):format(i))
  for _, choice in ipairs(candidates.of(product, "libxsmm")) do
    print("    " .. emit_bound.candidate(candidates.tiles(product, choice, target)) .. ",")
  end
  print("};")
end
print("static const attn2c_part_product drawn[] = {")
for i, p in ipairs(products) do
  print(("    {\"%s\", %d, %d, %d, %d, %d, 1.0, candidates_%d, %d, NULL, 0, NULL},"):format(p.name, p.outputs,
    p.inputs, p.rows, p.ldb,
    p.ldc, i, #candidates.of(p, "libxsmm")))
end
print("};")
