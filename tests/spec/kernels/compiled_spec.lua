-- compiled_spec: emitted products as compilers make them: the same bits for every optimisation level and both
-- compilers on one target, those of bf16 and int8 on all targets; and sums that stay in registers over the loop of k.
local helper = require("tests.spec.helper")
local recipe = require("commands.build.recipe")
local targets = require("data.targets")

local root = helper.absolute_root()
local COMPILERS = { { "gcc", "-O3" }, { "clang", "-O3" }, table.unpack(helper.is_long
  and { { "gcc", "-O2" }, { "gcc", "-O1" } } or {}) }

local X86 = { "x86_64", "avx2", "avx512" }

-- The targets that this machine can run.
local function runnable()
  local best = targets.host(targets.machine(os.getenv))
  for i, target in ipairs(X86) do
    if target == best then return table.move(X86, 1, i, 1, {}) end
  end
  return { best }
end

-- Whether this machine has a command.
local function has(command) return (helper.run("command -v " .. command)) == 0 end

-- How products of bf16 and int8 are compiled and run: { target, compiler, level, runs: what runs the program; encoding:
-- whether instructions of AVX-VNNI are encoded as those of AVX-512 VNNI, which this machine may have instead }.
local function typed_builds()
  local list, best = {}, targets.host(targets.machine(os.getenv), { bf16 = true, int8 = true })
  local own = { avx512bf16 = { "avx512bf16", "avx512vnni", "avx512" }, avx512vnni = { "avx512vnni", "avx512" },
    avx512 = { "avx512" }, avxvnni = { "avxvnni" } }
  for i, target in ipairs(own[best] or {}) do
    list[#list + 1] = { target = target, compiler = i % 2 == 1 and "gcc" or "clang", level = "-O2" }
  end
  if best == "avx512bf16" then
    list[#list + 1] = helper.is_long and { target = best, compiler = "clang", level = "-O3" } or nil
    list[#list + 1] = { target = "avxvnni", compiler = "gcc", level = "-O3", encoding = true }
  end
  if own[best] or best == "avx2" then
    list[#list + 1] = { target = "avx2", compiler = "gcc", level = "-O1" }
  end
  if targets.by_name[best].machine == "x86_64" then
    list[#list + 1] = { target = "x86_64", compiler = "gcc", level = "-O1" }
    list[#list + 1] = helper.is_long and { target = "generic", compiler = "gcc", level = "-O1" } or nil
    if has("aarch64-linux-gnu-gcc") and has("qemu-aarch64") then
      list[#list + 1] = { target = "aarch64", compiler = "aarch64-linux-gnu-gcc", level = "-O1", runs = "qemu-aarch64" }
    end
  else
    list[#list + 1] = { target = best, compiler = "gcc", level = "-O2" }
    list[#list + 1] = { target = best, compiler = "clang", level = "-O1" }
  end
  return list
end

-- The words that compile a source with the flags of N_kernels.c and `more`.
local function compile_words(compiler, target, more, source, result)
  local build = { target = target, suffix = "", flags = targets.flags(target, compiler:find("gcc", 1, true) ~= nil) }
  local entries = { { name = "forward", suffix = "" } }
  for _, job in ipairs(recipe.jobs({ name = "tiny", workers = { 1 } }, { build }, {}, entries)) do
    if job.name == "tiny_kernels.o" then
      return recipe.words(job.commands[1], setmetatable({ compiler = { compiler }, cflags = more,
        runtime = root .. "/runtime", inputs = { source }, result = result }, { __index = function() return {} end }))
    end
  end
  return nil
end

-- A header that a script of tests/c prints for a target, made once.
local function header_of(folder, script, target)
  local path = ("%s/%s_%s.h"):format(folder, script, target)
  if not io.open(path) then
    helper.write(path, helper.succeeds(("lua5.4 tests/c/%s.lua %s few"):format(script, target), root))
  end
  return path
end

-- The assembly of a source of tests/c with the products of a target that a script prints, made once for each compiler
-- and level.
local function assembly(folder, source, script, compiler, target, level, flag)
  local path = ("%s/%s_%s_%s%s.s"):format(folder, source, compiler, target, level)
  if not io.open(path) then
    local products = ("-DPRODUCTS=\"%s\""):format(header_of(folder, script, target))
    local words = compile_words(compiler, target, { "-Werror", products, "-iquote", root .. "/tests/c", level, "-S",
      flag }, ("%s/tests/c/%s.c"):format(root, source), path)
    local _, runs = helper.runner(root)
    runs(words)
  end
  return path
end

-- Returns the assembly of product_bits.c.
local function bits_assembly(folder, compiler, target, level)
  return assembly(folder, "product_bits", "products", compiler, target, level)
end

-- Returns the assembly of typed_products.c.
local function typed_assembly(folder, compiler, target, level, flag)
  return assembly(folder, "typed_products", "typed_products", compiler, target, level, flag)
end

describe("products in C", function()
  local folder
  setup(function() folder = helper.folder() end)
  teardown(helper.clean)

  -- In `make test` the best target; sums of the others are in the same order.
  local targets_here = runnable()
  for _, target in ipairs(helper.is_long and targets_here or { targets_here[#targets_here] }) do
    it("make the same bits on " .. target .. ", however they are compiled", function()
      local expected
      local _, runs = helper.runner(folder)
      for _, each in ipairs(COMPILERS) do
        local compiler, level = table.unpack(each)
        runs { compiler, bits_assembly(folder, compiler, target, level), "-o", "bits" }
        local bits = runs { "./bits" }
        assert.is_true(#bits > 50000)
        expected = expected or bits
        assert.is_true(bits == expected, ("%s %s differs"):format(compiler, level))
      end
    end)
  end

  -- The innermost loops of each function of assembly that multiply: calls visit(function's name, lines, uses of the
  -- stack's address).
  local function each_loop(text, visit)
    local name, lines, at = nil, {}, {}
    local function finish()
      local frame = table.concat(lines, "\n"):find("movq%s+%%rsp, %%rbp")
      local first
      for i, line in ipairs(lines) do
        local label = line:match("^(%.L%d+):")
        if label then at[label] = i end
        local target = line:match("^%s+j%l+%s+(%.L%d+)")
        if target and at[target] and (not first or at[target] > first) then -- none that ended inside
          local body = table.concat(lines, "\n", at[target], i)
          if body:find("%svfmadd%d+ps%s") or body:find("%svdpbf16ps%s") or body:find("%svpdpbusd%s")
            or body:find("%svpmaddwd%s") then
            first = i
            visit(name, body, body:find("(%rsp", 1, true) or frame and body:find("(%rbp", 1, true))
          end
        end
      end
    end
    for line in text:gmatch("[^\n]+") do
      local label = line:match("^([%a_][%w_]*):")
      if label then
        finish()
        name, lines, at = label, {}, {}
      end
      lines[#lines + 1] = line
    end
    finish()
  end

  it("are looked at by a reader of assembly that knows loops and the stack", function()
    local found = {}
    each_loop("f:\n.L1:\n.L2:\n\tvfmadd231ps %zmm1, %zmm2, %zmm3\n\tjne .L2\n\tvmovaps %zmm1, 8(%rsp)\n\tjne .L1\n"
      .. "g:\n.L3:\n\tvfmadd231ps 8(%rsp), %zmm2, %zmm3\n\tjne\t.L3\n"
      .. "h:\n\tmovq %rsp, %rbp\n.L4:\n\tvfmadd231ps 8(%rbp), %zmm2, %zmm3\n\tjne\t.L4\n"
      .. "i:\n.L5:\n\tvfmadd231ps 8(%rbp), %zmm2, %zmm3\n\tjne\t.L5\n", function(name, _, stack)
      found[#found + 1] = name .. (stack and " stack" or "")
    end)
    assert.same({ "f", "g stack", "h stack", "i" }, found)
  end)

  -- Returns the program of typed_products.c. It writes sums, and fails if one is not what its own model says.
  local function typed(build)
    local source = typed_assembly(folder, build.compiler, build.target, build.level, build.flag)
    local _, runs = helper.runner(folder)
    if build.encoding then
      local text, count = helper.read(source):gsub("{vex} vpdpbusd", "vpdpbusd")
      assert.is_true(count > 100)
      source = folder .. "/encoded.s"
      helper.write(source, text)
    end
    runs { build.compiler, source, "-o", "typed", "-lm", build.runs and "-static" or nil }
    return runs(build.runs and { build.runs, "./typed" } or { "./typed" })
  end

  -- Each build makes the sums that the first of them makes.
  local function same_sums(builds, what_of)
    local sums
    for _, build in ipairs(builds) do
      it(("of bf16 and int8 make %s by %s %s"):format(what_of(build), build.compiler, build.level), function()
        local got = typed(build)
        assert.is_true(#got > 50000)
        sums = sums or got
        assert.is_true(got == sums)
      end)
    end
  end

  same_sums(helper.sample(typed_builds(), 3), function(build) return "the same bits on " .. build.target end)

  -- AMX: emulated, and by its instructions where ATTN2C_TILES=real says that this machine has them.
  local function tile_builds()
    local list, best = {}, targets.host(targets.machine(os.getenv), { bf16 = true })
    if best == "avx512bf16" then
      list[1] = { target = "amx", compiler = "gcc", level = "-O0", how = "emulated",
        flag = "-DATTN2C_TILES_EMULATED" }
    end
    if os.getenv("ATTN2C_TILES") == "real" then
      list[2] = { target = "amx", compiler = "gcc", level = "-O2", how = "by its instructions" }
      list[3] = { target = "amx", compiler = "clang", level = "-O1", how = "by its instructions" }
    end
    return list
  end

  same_sums(tile_builds(), function(build) return ("the bits of AMX's tiles, %s,"):format(build.how) end)

  it("in tiles are the instructions of AMX, by both compilers", function()
    if targets.machine(os.getenv) ~= "x86_64" then return end
    helper.write(folder .. "/tiles.c", [[
#include "ops/product/tiles.h"
#include <immintrin.h>
void own(void *p, void *q, long s) {
  attn2c_tiles_set(p); attn2c_tile_zero(1); attn2c_tile_load(6, p, s); attn2c_tile_store(2, q, s);
  attn2c_tile_load_once(5, p, s);
  attn2c_tile_bf16(0, 4, 6); attn2c_tile_int8(3, 5, 7); attn2c_tiles_release();
}
void intrinsics(void *p, void *q, long s) {
  _tile_loadconfig(p); _tile_zero(1); _tile_loadd(6, p, s); _tile_stored(2, q, s);
  _tile_stream_loadd(5, p, s);
  _tile_dpbf16ps(0, 4, 6); _tile_dpbusd(3, 5, 7); _tile_release();
}
]])
    local _, runs = helper.runner(folder)
    for _, compiler in ipairs { "gcc", "clang" } do
      runs(compile_words(compiler, "amx", { "-Werror", "-O2" }, folder .. "/tiles.c", folder .. "/tiles.o"))
      local text, code = runs { "objdump", "-d", "--no-show-raw-insn", "tiles.o" }, {}
      for _, name in ipairs { "own", "intrinsics" } do
        local list = {}
        for line in text:match("<" .. name .. ">:\n(.-ret)"):gmatch("\t([tl][%w]+ ?[^\n]*)") do
          list[#list + 1] = line
        end
        code[name] = list
      end
      assert.equal(8, #code.own)
      assert.same(code.intrinsics, code.own)
    end
  end)

  for _, target in ipairs(runnable()[1] == "x86_64" and { "avx512", "avx2" } or {}) do
    it("for " .. target .. " keep all that a step needs in registers", function()
      local has_loop = {}
      each_loop(helper.read(bits_assembly(folder, "gcc", target, "-O3")), function(name, body, stack)
        assert.is_falsy(stack, ("%s:\n%s"):format(name, body))
        has_loop[name] = true
      end)
      local products = 0
      local header = helper.read(header_of(folder, "products", target))
      for k, name in header:gmatch("{%d+, %d+, (%d+),[^}]* ([%w_]+)}") do
        products = products + 1
        assert.is_true(has_loop[name] or tonumber(k) < 16, name) -- few inputs need no loop
      end
      assert.is_true(products > 50)
    end)
  end

  -- A copy in each step halved the rate that `machine` and `bench` print for AVX2.
  for _, target in ipairs(runnable()[1] == "x86_64" and { "avx512", "avx2" } or {}) do
    it("for " .. target .. " have a peak whose loop is multiply-adds alone", function()
      helper.write(folder .. "/peak.c", '#include "measure/peak.h"\ndouble f(void) { return attn2c_peak_round(); }\n')
      local _, runs = helper.runner(folder)
      runs(compile_words("gcc", target, { "-O2", "-S" }, folder .. "/peak.c", folder .. "/peak.s"))
      local loops = 0
      each_loop(helper.read(folder .. "/peak.s"), function(_, body, stack)
        loops = loops + 1
        assert.is_falsy(stack or body:find("\tvmov"), body)
        assert.equal(12, select(2, body:gsub("\tvfmadd", "")))
      end)
      assert.equal(1, loops)
    end)
  end

  -- Strips of avx512 are those of avx512bf16, with more instructions for a sum.
  for _, target in ipairs(runnable()[1] == "x86_64" and { "avx512bf16", helper.is_long and "avx512" or nil } or {}) do
    it("of bf16 and int8 for " .. target .. " keep all that a step needs in registers", function()
      local loops = 0
      each_loop(helper.read(typed_assembly(folder, "gcc", target, "-O2")), function(name, body, stack)
        assert.is_falsy(stack, ("%s:\n%s"):format(name, body))
        loops = loops + 1
      end)
      assert.is_true(loops > 50)
    end)
  end

  -- Constants of the map after a strip would take registers if the compiler moved them out of the loop over strips.
  for _, precision in ipairs(runnable()[1] == "x86_64" and { "bf16", "int8" } or {}) do
    it("of " .. precision .. " with any number of rows, fused with a map, keep all that a step needs in registers",
      function()
        local description = helper.description { d_model = 96, heads = 3, layers = 1, d_ff = 96, activation = "gelu",
          precision = precision, target = "avx512bf16" }
        description.seq = { any = 300 }
        local state = helper.state(description)
        local name, functions = state.spec.name, 0
        for _, file in ipairs(state.files) do helper.write(folder .. "/" .. file.name, file.text) end
        -- Without the other products, which take three quarters of the compiler's time.
        local function without(product) return not product:find("_gelu", 1, true) and "" or nil end
        local kernels = helper.emitted(state, name .. "_kernels.c")
        helper.write(folder .. "/" .. name .. "_kernels.c",
          (kernels:gsub("%f[%w]void (product_[%w_]+)%b() %b{}\n", without)))
        local _, runs = helper.runner(folder)
        runs(compile_words("gcc", "avx512bf16", { "-O2", "-S", "-Wno-unused-function", "-I" .. folder },
          folder .. "/" .. name .. "_kernels.c", folder .. "/fused.s"))
        local text = "\n" .. helper.read(folder .. "/fused.s")
        for body in text:gmatch("\nproduct_[%w_]+_gelu[%w_]*:\n(.-)\n%s+%.cfi_endproc") do
          local frame = body:find("movq%s+%%rsp, %%rbp") and "[sb]" or "s"
          local reload = body:match("[^\n]*%(%%r" .. frame .. "p[^\n]*, %%zmm%d+\n")
          assert.is_nil(reload, reload)
          functions = functions + 1
        end
        assert.is_true(functions > 0)
      end)
  end
end)
