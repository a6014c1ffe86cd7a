-- kernels.lua: the rates of the products of models.txt in cache, by two compilers, as a Markdown table: GFLOP/s at the
-- least times of rounds in turn. A product that several models have is timed once. Its operands stay where they are:
-- in the first two caches, if they fit.
--
--   lua5.4 tests/bench/kernels.lua [TARGET [MODEL ...]]     default: avx512, all models; in the environment: FIRST=gcc
--                                                           SECOND=clang: the compilers; TIMED_BY="taskset -c 1":
--                                                           what the timer is started by
local script = arg[0]:match("^(.*)/tests/bench/[^/]*$") or "."
package.path = script .. "/gen/?.lua;" .. package.path
local targets = require("data.targets")

local COMMON = "-std=c11 -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -fopenmp-simd -fPIC -iquote runtime"
local OUT = "out/bench/kernels"
local compilers = { os.getenv("FIRST") or "gcc", os.getenv("SECOND") or "clang" }
local timed_by = os.getenv("TIMED_BY") or ""
local target = arg[1] or "avx512"
if not targets.by_name[target] then
  io.stderr:write(("kernels.lua: %s: no such target\n"):format(target))
  os.exit(2)
end

local function run(format, ...)
  local command = format:format(...)
  io.stdout:flush()
  if not os.execute(command) then
    io.stderr:write(("kernels.lua: failed: %s\n"):format(command))
    os.exit(1)
  end
end

-- The models asked for: { name, description, keys }.
local function models()
  local wanted, list = table.concat({ table.unpack(arg, 2) }, " "), {}
  for line in io.lines("tests/bench/models.txt") do
    local name, description, keys = line:match("^([^#;]+);[^;]*; *([^;]-) *; *(.*)$")
    if name and (wanted == "" or (" " .. wanted .. " "):find(" " .. name .. " ", 1, true)) then
      list[#list + 1] = { name = name, description = description, keys = keys }
    end
  end
  return list
end

-- The products of a file of kernels: { name, sizes: a line of kernels.c, and each by itself, strips: how it is cut },
-- without those that share a function with the map after them, whose arguments are others.
local function products(path)
  local list, comment = {}, ""
  for line in io.lines(path) do
    if line:match("^/%* C%[") then comment = line elseif line:match("^ %* %d+ x") then comment = comment .. line end
    local name = line:match("^void (product_[%w_]+)%(")
    local n, m, k, lda, ldb, ldc =
      comment:match("^/%* C%[(%d+)%]%[(%d+)%] %+?= B%[%d+%]%[(%d+)%] A%[%d+%]%[%d+%]; lda (%d+), ldb (%d+), ldc (%d+)")
    if name and n and not name:find("_bias", 1, true) then
      list[#list + 1] = { name = name, sizes = table.concat({ n, m, k, lda, ldb, ldc }, " "),
        n = n, m = m, k = k, lda = lda, ldb = ldb, ldc = ldc,
        strips = comment:match("([%dx and]+ rows? by [^,*]*)") or "" }
    end
  end
  return list
end

run("mkdir -p %s", OUT)
run("%s -O2 -std=gnu11 -o %s/time tests/bench/kernels.c -ldl", compilers[1], OUT)
local flags = table.concat(targets.flags(target, false), " ")
local seen = {}
print(("| %s: rows x outputs x inputs | strips | %s | %s | ratio |"):format(target, compilers[1], compilers[2]))
print("|---|---|---|---|---|")
for _, model in ipairs(models()) do
  local name = ("kernels_%s_%s"):format(model.name, target)
  run("gen/attn2c gen %s name=%s target=%s %s threads=1 -o %s > /dev/null", model.description, name, target, model.keys,
    OUT)
  local libraries = {}
  for i, compiler in ipairs(compilers) do
    libraries[i] = ("%s/%s_%s.so"):format(OUT, name, compiler:match("[^/]*$"))
    run("%s %s %s -shared -o %s %s/%s_kernels.c", compiler, COMMON, flags, libraries[i], OUT, name)
  end
  local lines, of = {}, {}
  for _, product in ipairs(products(("%s/%s_kernels.c"):format(OUT, name))) do
    if not seen[product.sizes] then lines[#lines + 1] = product.name .. " " .. product.sizes end
    seen[product.sizes] = true
    of[product.name] = product
  end
  local list = OUT .. "/lines"
  local file = assert(io.open(list, "w"))
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
  local timed = assert(io.popen(("%s %s/time %s %s < %s"):format(timed_by, OUT, libraries[1], libraries[2], list)))
  for line in timed:lines() do
    local product, first, second = line:match("^(%S+) (%S+) (%S+)$")
    local p = of[product]
    print(("| %s x %s x %s; ld %s, %s, %s | %s | %s | %s | %.3f |"):format(p.n, p.m, p.k, p.lda, p.ldb, p.ldc,
      p.strips:match("^%s*(.-)%s*$"), first, second, second / first))
  end
  timed:close()
end
