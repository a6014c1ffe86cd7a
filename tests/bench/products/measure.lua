-- measure.lua: times every candidate of the products of shapes.lua on this machine, and writes a table for fit.lua.
--
--   lua5.4 tests/bench/products/measure.lua [TARGET:TYPE:FORM ...]   default: all that this machine runs
--
-- FORM is fixed (the rows are constants of the code) or open (only a call knows them). In the environment:
-- TIMED_BY="chrt -f 1 taskset -c 1" starts the timer (README.md, Method); POOL_MB=160 of weights; samples of MS=1;
-- ROUNDS=15; KEEP=1 keeps the lines of the table and measures those that are not there; AGAIN=1.1 measures those again
-- of which the rule loses more than that, and replaces their lines; ROWS=9 leaves products of more rows out; PREPARE=2
-- only compiles, two products at a time, so that the machine need not be quiet for it. BETWEEN=1 takes the shapes
-- between the list's, and DRAWN=SEED:COUNT that number of random products of each type and form, for a table of their
-- own. FEW=1 prints a table instead: of few rows (few.lua), the rule's time against memory's rate and the multipliers'.
-- TYPE may then be that of weights in scale blocks, by its name in gen/data/types.lua: q4, or q4fine with fine rows.
-- The rule uses this machine's facts, as a build for `host` does; with ELSEWHERE=1 it is that of other builds.
-- LIMIT=140 begins no product after that time and exits with 1 if products are left:
-- with KEEP=1 the next run goes on with them.
local script = arg[0]:match("^(.*)/tests/bench/[^/]*/[^/]*$") or "."
package.path = ("%s/gen/?.lua;%s/tests/bench/products/?.lua;"):format(script, script) .. package.path
local facts = require("commands.machine.facts")
local few = require("few")
local files = require("common.files")
local library = require("commands.products.library")
local losses = require("losses")
local shapes = require("shapes")
local table_of = require("table_of")
local targets = require("data.targets")
local types = require("data.types")

local OUT = "out/bench/products"
local FLAGS = "-std=c11 -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off -fopenmp-simd -fPIC -shared "
  .. "-iquote runtime -w"
local ALL = { "amx:bf16", "amx:int8", "avx512:f32", "avx512:bf16", "avx512bf16:bf16", "avx512bf16:int8", "avx2:f32",
  "avx2:bf16", "avx2:int8" }
local ALL_FEW = { "avx512bf16:q4", "avx512bf16:q4fine", "avx512bf16:q4m", "avx512bf16:q4f", "avx512bf16:q8",
  "avx512bf16:q8fine", "avx512bf16:q8h", "avx512bf16:int8", "avx512bf16:bf16", "avx2:q4", "avx2:q4m", "avx2:q8",
  "avx2:q8fine", "avx2:q8h", "avx2:int8" }
local MATRICES = 72 -- of 12 layers
local MOST_SECONDS = 6 -- of a product, in which its rounds begin
local prepares = tonumber(os.getenv("PREPARE") or "") -- compilers at a time
local again = tonumber(os.getenv("AGAIN") or "")
local ends = os.getenv("LIMIT") and os.time() + tonumber(os.getenv("LIMIT"))
local timed_by = os.getenv("TIMED_BY") or ""
local is_between = os.getenv("BETWEEN") ~= nil
local seed, drawn = (os.getenv("DRAWN") or ""):match("^(%d+):(%d+)$")
local most_rows = tonumber(os.getenv("ROWS") or math.huge)
local pool, sample, rounds = tonumber(os.getenv("POOL_MB") or 160), os.getenv("MS") or "1", os.getenv("ROUNDS") or "15"

local function run(format, ...)
  local command = format:format(...)
  if not os.execute(command) then
    io.stderr:write(("measure.lua: failed: %s\n"):format(command))
    os.exit(1)
  end
end

-- Returns the C text of all candidates of a product.
local function text_of(target, list)
  local all = {}
  for i, candidate in ipairs(list) do all[i] = candidate.calls end
  return library.text(all, targets.by_name[target].vector)
end

-- Ends the run if its time is over and a product is left.
local function go_on_or_end()
  if ends and os.time() >= ends then
    io.stderr:write("measure.lua: products are left\n")
    os.exit(1)
  end
end

-- Returns the path of a library of this name and text, without its ending. It is compiled unless it is there.
-- is_later: whether the compiler may still run when this returns.
local function compiled(target, name, text, is_later)
  local path = OUT .. "/" .. name
  if files.read(path .. ".c") ~= text or not files.read(path .. ".so") then
    os.remove(path .. ".so")
    files.write_all(OUT, { { name = name .. ".c", text = text } })
    run("cc %s %s -o %s.new %s.c && mv %s.new %s.so%s", FLAGS, table.concat(targets.flags(target, true), " "), path,
      path, path, path, is_later and " &" or "")
  end
  return path
end

-- Returns the candidates of a product, and the path of a library of them.
local function library_of(target, word, form, shape, is_later)
  local list = shapes.candidates(target, word, shape, form == "open")
  local name = ("%s_%s_%s_%dx%d_%d"):format(target, word, form, shape.outputs, shape.inputs, shape.rows)
  return list, compiled(target, name, text_of(target, list), is_later)
end

-- Returns the KB of weights of which a product reads one matrix after the other: more than caches hold. Small products
-- are as in models that fit a cache.
local function pool_of(shape, made)
  local all = 1024 * pool
  if math.min(shape.outputs, shape.inputs) >= targets.deep then return all end
  return math.min(all, math.ceil(MATRICES * types.bytes(made.elements, made.types.a) / 1024))
end

-- Returns the nanoseconds of a library's candidates. more: arguments of the timer after its rounds.
local function times_of(path, pool_kb, more)
  local pipe = assert(io.popen(("%s %s/time %s.so %d %s %s %s"):format(timed_by, OUT, path, pool_kb, sample, rounds,
    more)))
  local list = {}
  for text in pipe:lines() do list[#list + 1] = tonumber(text) end
  assert(pipe:close(), "the timer failed")
  return list
end

-- Prints the table of few rows of a type on a target.
local function print_few(target, word)
  local rates = not os.getenv("ELSEWHERE") and facts.source(script)() or nil
  for _, weight in ipairs((shapes.few())) do
    local made = few.of(target, word, weight, rates)
    os.remove(("%s/few.c"):format(OUT)) -- the runtime may have changed
    local path = compiled(target, "few", made.text)
    local ns = times_of(path, 1024 * pool, ("%d %d"):format(MOST_SECONDS, #made.rows + few.BOUNDS))
    print(few.line(made, target .. " " .. word, weight, ns))
  end
end

-- Times the candidates of a product; returns a line of the table.
local function measured(target, word, form, shape)
  local list, path = library_of(target, word, form, shape)
  local ns = times_of(path, pool_of(shape, list[1].calls), MOST_SECONDS)
  assert(#ns == #list, "the timer failed")
  local line = { target = target, type = word, form = form, outputs = shape.outputs, inputs = shape.inputs,
    rows = shape.rows, ratios = {} }
  for i, each in ipairs(list) do each.ns = ns[i] end
  local best = math.huge
  for _, each in ipairs(list) do best = math.min(best, each.ns) end
  line.ns = best
  for _, each in ipairs(list) do line.ratios[each.name] = each.ns / best end
  line.rule = list[1].name
  return line
end

-- Returns the products to measure: those without a line, and with AGAIN those whose line is in doubt.
local function wanting(lines, target, word, form)
  local list = {}
  local group = ("%s:%s:%s"):format(target, word, form)
  for _, shape in ipairs(seed and shapes.drawn(tonumber(seed), group, tonumber(drawn)) or shapes.list(is_between)) do
    local wanted, is_there = { target = target, type = word, form = form }, shape.rows > most_rows
    for name, value in pairs(shape) do wanted[name] = value end
    for _, line in ipairs(lines) do
      if table_of.is_same(line, wanted) then
        local ratio = losses.ratio_of(line, shapes.rule(target, word, shape, form == "open"))
        is_there = is_there or not again or ratio and ratio <= again
      end
    end
    if not is_there then list[#list + 1] = shape end
  end
  return list
end

-- Puts a line into the table, in the place of one of the same product.
local function put(lines, line)
  for i, other in ipairs(lines) do
    if table_of.is_same(other, line) then
      lines[i] = line
      return
    end
  end
  lines[#lines + 1] = line
end

local function here()
  local info = files.read("/proc/cpuinfo") or ""
  local name = facts.identity(info, {})
  local family, model = info:match("cpu family%s*:%s*(%d+)"), info:match("\nmodel%s*:%s*(%d+)")
  return family and ("%s, family %s, model %s"):format(name, family, model) or name
end

run("mkdir -p %s", OUT)
run("cc -O2 -std=gnu11 -iquote runtime -o %s/time %s/runtime/tools/products.c -ldl", OUT, script)
local runs, wanted = targets.runs_on(targets.machine(os.getenv)), {}
if os.getenv("FEW") then
  print(few.head())
  for _, each in ipairs(#arg > 0 and arg or ALL_FEW) do
    local target, word = each:match("^(%w+):(%w+)$")
    assert(targets.by_name[target] and shapes.knows(word), each)
    if runs(target) then print_few(target, word) end
  end
  os.exit(0)
end
for _, each in ipairs(ALL) do
  for _, form in ipairs { "fixed", "open" } do wanted[#wanted + 1] = each .. ":" .. form end
end
if #arg > 0 then wanted = arg end
local machine, date = here(), os.date("!%Y-%m-%d")
local path = ("%s/tests/bench/products/tables/%s%s.txt"):format(script, table_of.file_name(machine, date),
  is_between and "-between" or seed and "-drawn-" .. seed or "")
local lines = (again or os.getenv("KEEP")) and files.read(path) and table_of.read(path).lines or {}
for _, each in ipairs(wanted) do
  local target, word, form = each:match("^(%w+):(%w+):(%w+)$")
  if not target or not targets.by_name[target] or not types.of_word[word] then
    io.stderr:write(("measure.lua: %s: not TARGET:TYPE:fixed or :open\n"):format(each))
    os.exit(2)
  end
  if prepares then
    for i, shape in ipairs(wanting(lines, target, word, form)) do
      go_on_or_end()
      library_of(target, word, form, shape, i % prepares > 0)
    end
  elseif runs(target) then
    for _, shape in ipairs(wanting(lines, target, word, form)) do
      go_on_or_end()
      local line = measured(target, word, form, shape)
      put(lines, line)
      io.stderr:write(("%s %dx%d n %d: %.1f us, the rule %.2f\n"):format(each, shape.outputs, shape.inputs, shape.rows,
        line.ns / 1000, line.ratios[line.rule]))
      table_of.write(path, { machine = machine, date = date, strips = shapes.STRIPS, lines = lines })
    end
  end
end
print(path)
