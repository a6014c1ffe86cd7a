-- machine_spec: what the command `machine` measures and prints, and what `host` means by given facts.
local helper = require("tests.spec.helper")
local checkpoints = require("tests.spec.checkpoint")
local files = require("common.files")
local json = require("common.json")
local machine = require("commands.machine")
local measure = require("commands.machine.measure")
local targets = require("data.targets")

local root = helper.absolute_root()
local folder = root .. "/out/spec/machine"
local shell = helper.shell

-- A Xeon whose vdpbf16ps runs at half of f32's rate, without and with AMX, and a Zen 5.
local ALL = require("common.words").set { "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512dq", "avx512vl",
  "avx512_vnni", "avx512_bf16", "avx_vnni", "amx_tile", "amx_bf16", "amx_int8" }
local XEON = { avx512bf16 = { f32 = 178, bf16 = 89, int8 = 715 }, avx512vnni = { f32 = 178, bf16 = 178, int8 = 715 },
  avx512 = { f32 = 178, bf16 = 178, int8 = 300 }, avxvnni = { f32 = 89, bf16 = 89, int8 = 357 },
  avx2 = { f32 = 89, bf16 = 89, int8 = 170 }, x86_64 = { f32 = 40, bf16 = 40, int8 = 80 } }
local ZEN = { avx512bf16 = { f32 = 240, bf16 = 480, int8 = 960 }, avx512vnni = { f32 = 240, bf16 = 240, int8 = 960 },
  avx512 = { f32 = 240, bf16 = 240, int8 = 470 }, avx2 = { f32 = 120, bf16 = 120, int8 = 230 } }

local function with(rates, more)
  local all = {}
  for name, each in pairs(rates) do all[name] = each end
  for name, each in pairs(more) do all[name] = each end
  return all
end

local function hosts(rates)
  local of, why = {}, {}
  for _, each in ipairs(machine.hosts(rates, "x86_64", ALL)) do
    of[each.precision], why[each.precision] = each.target, each.reason
  end
  return of, why
end

describe("host, by the facts of a machine,", function()
  it("has the instructions of bf16 where they are faster", function()
    assert.same({ f32 = "avx512", bf16 = "avx512bf16", int8 = "avx512bf16" }, (hosts(ZEN)))
  end)

  it("widens bf16 where that is faster, beside int8 too", function()
    local of, why = hosts(XEON)
    assert.same({ f32 = "avx512", bf16 = "avx512", int8 = "avx512vnni" }, of)
    assert.equal("avx512bf16 multiplies bf16 at 89 GFLOP/s, widened numbers run at 178", why.bf16)
  end)

  it("has AMX where its tiles are measured, and right", function()
    local tiles = { f32 = 178, bf16 = 2590, int8 = 5100 }
    assert.same({ f32 = "avx512", bf16 = "amx", int8 = "amx" }, (hosts(with(XEON, { amx = tiles }))))
    assert.same(hosts(XEON), (hosts(with(XEON, { amx = { missing = "AMX's tiles" } }))))
    assert.same(hosts(XEON), (hosts(with(XEON, { amx = { f32 = 178, bf16 = "wrong", int8 = "wrong" } }))))
  end)

  it("leaves instructions alone that compute wrong results", function()
    local wrong = with(ZEN, { avx512bf16 = { f32 = 240, bf16 = "wrong", int8 = 960 } })
    local of, why = hosts(wrong)
    assert.same({ f32 = "avx512", bf16 = "avx512", int8 = "avx512vnni" }, of)
    assert.equal("avx512bf16 computes wrong results here", why.bf16)
  end)

  it("is printed with how few rows prefetch, where that is not as the rule says", function()
    local rates = { avx2 = { f32 = 100, bf16 = 100, int8 = 190, bf16_least = 1, scaled_least = 1, int8_ahead = 10240 } }
    local text = machine.text("A CPU", { targets = rates, levels = {}, cores = 2, all_cores = 20, lost = 0,
      seconds = 1 }, machine.hosts(rates, "x86_64", { avx2 = true, fma = true, f16c = true }))
    local lines = {}
    for line in text:gmatch("[^\n]*prefetch[^\n]*") do lines[#lines + 1] = line:gsub(" +", " ") end
    assert.same({ " bf16 avx2 products prefetch weights from 1 row on",
      " int8 avx2 few rows prefetch weights 10 KB ahead, into the first-level cache",
      " scaled avx2 products prefetch weights from 1 row on" }, lines)
  end)

  it("changes only where the difference is clear", function()
    local near = with(ZEN, { avx512bf16 = { f32 = 240, bf16 = 225, int8 = 960 } })
    assert.equal("avx512bf16", hosts(near).bf16)
    near.avx512bf16.bf16 = 215
    assert.equal("avx512", hosts(near).bf16)
  end)

  it("is chosen without facts as before, and asks for them only if they matter", function()
    local asked = 0
    local function none() asked = asked + 1 end
    local function host(set, flags) return targets.host("x86_64", set, none, flags or ALL) end
    assert.equal("avx512", host { f32 = true })
    assert.equal("avx512", host())
    assert.equal("avx2", host({ bf16 = true }, { avx2 = true, fma = true, f16c = true }))
    assert.equal(0, asked)
    assert.equal("avx512bf16", host { bf16 = true })
    assert.equal("avx512bf16", host { int8 = true, bf16 = true })
    assert.equal(2, asked)
    assert.equal("aarch64", targets.host("aarch64", { bf16 = true }, none))
    assert.equal(2, asked)
  end)
end)

describe("a list of targets", function()
  local LIST = { "amx", "avx512bf16", "avx512vnni", "avx512", "avx2" }
  it("has the variant of the same bits that takes the place of slow pairs", function()
    local bf16, both = { bf16 = true }, { bf16 = true, int8 = true }
    assert.equal("avx512vnni", targets.instead("avx512bf16", LIST, bf16))
    assert.equal("avx512vnni", targets.instead("avx512bf16", LIST, both))
    assert.equal("avx512", targets.instead("avx512bf16", { "avx512bf16", "avx512", "avx2" }, bf16))
    assert.is_nil(targets.instead("avx512bf16", { "avx512bf16", "avx512", "avx2" }, both)) -- other instructions of int8
    assert.is_nil(targets.instead("avx512bf16", { "avx512bf16", "avx2" }, bf16)) -- half the vector
    assert.is_nil(targets.instead("avx512bf16", LIST, { f32 = true }))
    assert.is_nil(targets.instead("amx", LIST, bf16)) -- other bits
    assert.is_nil(targets.instead("avx512", LIST, bf16))
  end)

  it("has it in the descriptor of the first, and in no other model", function()
    local function model_of(more)
      local names = {}
      for _, file in ipairs(helper.tiny(more).files) do names[file.name] = file.text end
      return names["tiny_model.c"], names["tiny_avx512bf16_ops.c"] or names["tiny_avx512_ops.c"] or names["tiny_ops.c"]
    end
    local model, ops = model_of { target = "avx512bf16, avx512", precision = "bf16" }
    assert.truthy(model:find("rival_avx512bf16 = { &tiny_avx512_descriptor, tiny_avx512bf16_own_round", 1, true), model)
    assert.equal(1, select(2, model:gsub("%.rival =", "")))
    assert.truthy(ops:find("attn2c_bf16_pairs(a, b, c)", 1, true))
    for _, more in ipairs { { target = "avx512bf16, avx512" }, { target = "avx512bf16", precision = "bf16" },
      { target = "avx512, avx2", precision = "bf16" } } do
      model, ops = model_of(more)
      assert.falsy(model:find("rival", 1, true))
      assert.falsy(ops:find("peak", 1, true))
    end
    model = model_of { target = "amx", precision = "bf16" }
    assert.truthy(model:find(".is_right = tiny_is_right", 1, true))
  end)
end)

describe("a program for a list of targets", function()
  after_each(helper.clean)

  -- Takes the place of the loop of pairs when the program is linked, as if they were slow on this machine.
  local SLOW = "double __wrap_slow_avx512bf16_own_round(void);\ndouble __wrap_slow_avx512bf16_own_round(void) {\n"
    .. "  for (volatile int i = 0; i < 100000; i++) continue;\n  return 1.0;\n}\n"

  it("uses the variant without pairs where they are slow, with the same bits", function()
    if not targets.runs_on(targets.machine(os.getenv))("avx512bf16") then
      return pending("this machine has no AVX512-BF16")
    end
    files.make_folder(folder)
    helper.write(folder .. "/slow.c", SLOW)
    helper.write(folder .. "/slow.lua", [[return { name = "slow", target = "avx512bf16, avx512", precision = "bf16",
      d_model = 64, heads = 2, seq = 8, layers = 1 }]])
    local object = helper.folder() .. "/slow.o" -- flags are divided at blanks, which the project's folder may have
    helper.succeeds("cc -O0 -c slow.c -o " .. object, folder)
    helper.succeeds(("ATTN2C_LDFLAGS=%s lua5.4 %s slow.lua slow"):format(
      shell("-Wl,--wrap=slow_avx512bf16_own_round " .. object), shell(root .. "/tests/program.lua")),
      folder)
    local function info(environment) return helper.succeeds(environment .. " slow/slow info", folder) end
    assert.truthy(info(""):find("in use       avx512;", 1, true), info(""))
    assert.truthy(info("ATTN2C_TARGET=avx512bf16"):find("in use       avx512bf16;", 1, true))
    assert.truthy(helper.succeeds("slow/slow check", folder):find(" 0 failed\n", 1, true))
    local numbers = {}
    for i = 1, 8 * 64 do numbers[i] = i * i % 37 / 8 - 2 end
    helper.write(folder .. "/x.npy", checkpoints.npy("1, 8, 64", numbers, true))
    helper.write(folder .. "/slow.st", checkpoints.text(folder .. "/slow.lua", "F32"))
    local bits = {}
    for i, environment in ipairs { "", "ATTN2C_TARGET=avx512bf16" } do
      helper.succeeds(environment .. " slow/slow run --weights slow.st --input x.npy --output y.npy", folder)
      bits[i] = files.read(folder .. "/y.npy")
    end
    assert.is_true(#bits[1] > 2048 and bits[1] == bits[2])
  end)
end)

describe("the measuring program", function()
  it("has the loop of each target's form, and a proof of newer instructions", function()
    local function types_of(name) return measure.values(targets.by_name[name]).types end
    for _, target in ipairs(targets.list) do
      local text = require("common.template").open(root, "rates.c.in")(measure.values(target))
      assert.truthy(text:find("attn2c_rates_" .. target.name, 1, true))
    end
    assert.equal("attn2c_bf16_pairs(a, b, c)", types_of("avx512bf16")[1].product)
    assert.equal("attn2c_proof_bf16", types_of("avx512bf16")[1].proof)
    assert.equal("f32", types_of("avx512")[1].loop)
    assert.equal("attn2c_tiles_are_right", types_of("amx")[2].proof)
    assert.is_false(types_of("generic")[2].proof)
  end)

  it("finds an instruction that computes a wrong bit", function()
    local target = targets.by_name.avx512bf16
    if not targets.runs_on(targets.machine(os.getenv))(target.name) then
      return pending("this machine has no AVX512-BF16")
    end
    for broken, expected in ipairs { 0, 1, 2, 4, 4, 4 } do
      helper.succeeds(("cc -std=c11 -Wall -Wextra -Werror -O1 -ffp-contract=off -fopenmp-simd -DBREAK=%d %s "
        .. "-iquote %s -o proofs %s"):format(broken - 1, target.cflags,
          shell(root .. "/runtime"), shell(root .. "/tests/c/proofs.c")), folder)
      assert.equal(expected, (helper.run("./proofs", folder)))
    end
  end)

  it("compiles without a warning for each target that the compiler knows", function()
    files.make_folder(folder)
    for _, target in ipairs(targets.list) do
      if targets.fits(target, targets.machine(os.getenv)) then
        helper.write(folder .. "/rates.c",
          require("common.template").open(root, "rates.c.in")(measure.values(target)))
        local flags = table.concat(targets.flags(target.name, true), " ")
        helper.succeeds(("cc -std=c11 -Wall -Wextra -Werror -O1 -fopenmp-simd -iquote %s %s -c rates.c -o rates.o")
          :format(shell(root .. "/runtime"), flags), folder)
      end
    end
  end)
end)

describe("the command machine", function()
  local line = ("XDG_CACHE_HOME=%s lua5.4 %s"):format(shell(folder .. "/cache"), shell(root .. "/gen/attn2c"))
  local function sh(command) return helper.succeeds(command, folder) end

  setup(function()
    files.make_folder(folder)
    if require("lfs").attributes(folder .. "/cache") then files.remove_folder(folder .. "/cache") end
  end)

  -- Changes the file of facts. Other suites run meanwhile, so that this machine would be measured again.
  local function change(edit)
    local path = folder .. "/" .. sh("ls cache/attn2c/machine/*.json"):match("[^\n]+")
    local text, count = edit(files.read(path)):gsub('"lost": [%d.]+', '"lost": 0.000')
    assert.equal(1, count)
    helper.write(path, text)
  end

  it("measures this machine, prints the facts, and prints the same again", function()
    sh(line .. " machine")
    change(function(text) return text end)
    local text = sh(line .. " machine")
    assert.falsy(text:find("disturbed", 1, true))
    local value = json.decode(sh(line .. " machine --json"))
    assert.is_true(value.cores >= 1 and #value.levels >= 1)
    for _, name in ipairs(measure.names(targets.machine(os.getenv))) do
      local rates = value.targets[name]
      assert.truthy(text:find("\n" .. name .. " ", 1, true), text)
      for _, type in ipairs { "f32", "bf16", "int8" } do
        assert.is_true(rates.missing ~= nil or rates[type] == "wrong" or rates[type] > 0.1, name .. " " .. type)
      end
    end
    for _, level in ipairs(value.levels) do
      assert.is_true(level.gigabytes > 0.1 and level.nanoseconds > 0.1 and level.nanoseconds < 1e5)
    end
    for precision, target in pairs(value.host) do
      assert.truthy(text:find(("\n  %-10s %-12s "):format(precision, target), 1, true), text)
      assert.is_table(targets.by_name[target])
    end
    assert.equal(text, sh(line .. " machine"))
  end)

  -- Writes the facts of another machine in place of this one's.
  local function pretend(rates)
    local value = json.decode(sh(line .. " machine --json"))
    change(function(text)
      for name, each in pairs(rates) do
        if value.targets[name] and not value.targets[name].missing then
          local new = ('"%s": {"f32": %.1f, "bf16": %.1f, "int8": %.1f}'):format(name, each.f32, each.bf16, each.int8)
          text = text:gsub(('"%s": {[^}]*}'):format(name), new)
        end
      end
      return (text:gsub('"amx": {[^}]*}', '"amx": {"missing": "AMX\'s tiles"}'))
    end)
  end

  it("says that other work has disturbed the facts, and measures again the next time", function()
    local busy = "for i in $(seq $((3 * $(nproc)))); do timeout 300 sh -c 'while :; do :; done' >&- 2>&- & "
      .. "all=\"$all $!\"; done; %s machine --measure; kill $all"
    assert.matches("\ndisturbed by other work, which took %d+%% of a processor's time: rates may be higher\nthe next "
      .. "`attn2c machine` measures again\n$", sh(busy:format(line)))
    sh("touch -d '1 hour' cache/attn2c/machine/*.json") -- not yet old enough
    local first = json.decode(sh(line .. " machine --json"))
    assert.is_true(first.disturbed and first.lost > 0.1)
    sh("touch -d '3 seconds ago' cache/attn2c/machine/*.json")
    assert.not_same(first, json.decode(sh(line .. " machine --json")))
  end)

  it("decides what host means for a build, and nothing else of it", function()
    local runs = targets.runs_on(targets.machine(os.getenv))
    if not runs("avx512bf16") then return pending("this machine has no AVX512-BF16") end
    helper.write(folder .. "/tiny.lua", [[return { name = "tiny", precision = "bf16", d_model = 64, heads = 2, seq = 8,
      layers = 1 }]])
    local function emitted(name, ...)
      sh(("%s gen tiny.lua -o %s %s"):format(line, name, table.concat({ ... }, " ")))
      return files.read(folder .. "/" .. name .. "/tiny.c") .. files.read(folder .. "/" .. name .. "/tiny_kernels.c")
    end
    pretend(XEON)
    assert.equal(emitted("widened", "target=avx512"), emitted("slow"))
    pretend(ZEN)
    assert.equal(emitted("pairs", "target=avx512bf16"), emitted("fast"))
    assert.not_equal(files.read(folder .. "/slow/tiny.c"), files.read(folder .. "/fast/tiny.c"))
    pretend(XEON)
    assert.truthy(sh(line .. " machine"):find("widened numbers run at 178", 1, true))
    sh(line .. " machine --measure")
    assert.falsy(sh(line .. " machine"):find(" 89 GFLOP/s", 1, true))
  end)

  it("measures for a build once, which one line says", function()
    if not targets.runs_on(targets.machine(os.getenv))("avx512bf16") then
      return pending("this machine has no AVX512-BF16")
    end
    files.remove_folder(folder .. "/cache")
    local function errors_of(words)
      return select(2, helper.run(("%s gen tiny.lua -o %s 2>&1 >/dev/null"):format(line, words), folder))
    end
    assert.equal("", errors_of("f32 precision=f32"))
    assert.equal("", errors_of("named target=avx512bf16"))
    assert.matches("^attn2c: measured this machine in [%d.]+ s[^\n]*; `attn2c machine` prints the facts\n$",
      errors_of("one"))
    assert.equal("", errors_of("two"))
  end)

  it("is measured by one process of several that begin at once", function()
    files.remove_folder(folder .. "/cache")
    local text = sh(("for i in 1 2 3; do %s machine --json >$i.json 2>$i.err & done; wait; cat [123].json")
      :format(line))
    local first = files.read(folder .. "/1.json")
    assert.is_table(json.decode(first))
    assert.equal(first:rep(3), text)
  end)
end)
