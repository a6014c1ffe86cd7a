-- targets_spec: the instruction sets, their rules, and what host means.
local helper = require("tests.spec.helper")
local c_tables = require("common.c_tables")
local targets = require("data.targets")
local tuning = require("passes.common.tuning")
local types = require("data.types")

describe("the features that targets need", function()
  it("are tested by the runtime, but for those that come with others", function()
    local known = { f16c = true, amx_bf16 = true, amx_int8 = true }
    for _, row in ipairs(c_tables.rows("base/processor_x86_64.h", "ATTN2C_FEATURES")) do known[row[1]] = true end
    for _, target in ipairs(targets.list) do
      for _, name in ipairs(target.needs) do assert.is_true(known[name], name) end
    end
  end)
end)

describe("targets", function()
  it("have a rule for every tile parameter, within the parameter's own range", function()
    for _, target in ipairs(targets.list) do
      assert.equal(target, targets.by_name[target.name])
      for name, parameter in pairs(targets.parameters) do
        local value = target.rule[name]
        if name == "kernels" then
          assert.is_nil(value) -- no parameter of the plan
        else
          assert.is_true(value >= parameter.min and value <= parameter.max, target.name .. " " .. name)
          assert.equal(0, value % (parameter.multiple or 1))
        end
      end
      for name in pairs(target.rule) do assert.is_table(targets.parameters[name], name) end
    end
  end)

  it("are for little-endian processors, as the key target says, and the runtime compiles for no others", function()
    for _, key in ipairs(require("data.keys").list) do
      if key.key == "target" then assert.matches("generic: any little%-endian processor;", key.meaning) end
    end
    assert.matches("_Static_assert%(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__",
      helper.read(helper.root .. "/runtime/formats/safetensors.c"))
  end)

  it("are what the key target takes, next to host", function()
    for _, key in ipairs(require("data.keys").list) do
      if key.key == "target" then
        local expected = { host = true }
        for _, target in ipairs(targets.list) do expected[target.name] = true end
        assert.same(expected, require("common.words").set(key.words))
      end
    end
  end)

  it("begin each rule's key blocks and panels on the alignment of key ranges", function()
    for _, target in ipairs(targets.list) do assert.equal(0, target.rule.key_block % target.rule.key_align) end
  end)
end)

describe("of a list, the target in use", function()
  local names = { "avx512", "avx2", "x86_64" }
  -- Returns a function that says whether a name is one of these.
  local function of(...) local set = require("common.words").set { ... } return function(name) return set[name] end end

  it("is the first that the machine can run, or the one that is asked for", function()
    assert.equal("avx512", targets.in_use(names, of("avx512", "avx2", "x86_64")))
    assert.equal("avx2", targets.in_use(names, of("avx2", "x86_64")))
    assert.equal("x86_64", targets.in_use({ "avx512", "x86_64" }, of("avx2", "x86_64"), ""))
    assert.equal("avx512", targets.in_use(names, of("avx2"), "avx512"))
    assert.equal("avx2", targets.in_use({ "avxvnni", "avx2" }, of("avx512vnni", "avx2"))) -- AVX-512 without AVX-VNNI
  end)

  it("is none where there is none", function()
    assert.is_nil(targets.in_use({ "avx512" }, of("avx2")))
    assert.is_nil(targets.in_use(names, of("avx2"), "sse"))
    assert.is_nil(targets.in_use(names, of("aarch64")))
  end)

  it("needs all instructions of its own, whatever number types it is for", function()
    local machine = targets.machine(os.getenv)
    local runs = targets.runs_on(machine)
    assert.is_true(runs("generic"))
    assert.is_true(runs(targets.host(machine)))
    assert.is_true(runs(targets.host(machine, { bf16 = true, int8 = true })))
    local flags = helper.read("/proc/cpuinfo"):match("flags%s*:([^\n]*)")
    assert.equal(machine == "x86_64" and flags:find(" avx_vnni ", 1, true) ~= nil, runs("avxvnni"))
    assert.is_false(targets.runs_on(machine == "x86_64" and "aarch64" or "x86_64")(machine))
  end)
end)

describe("the host", function()
  local function host(asked)
    local program = "\"package.path='%s/gen/?.lua' local t=require('data.targets') "
      .. "io.write(t.host(t.machine(os.getenv)))\""
    local command = ("LIBXSMM_TARGET=%s lua5.4 -e " .. program):format(
      asked, helper.root)
    local handle = io.popen(command)
    local text = handle:read("a")
    handle:close()
    return text
  end
  local rank = { x86_64 = 1, avx2 = 2, avx512 = 3 }

  it("is a target that this machine has", function()
    local got = targets.host(targets.machine(os.getenv))
    assert.is_table(targets.by_name[got])
    local handle = assert(io.open("/proc/cpuinfo"))
    local text = handle:read("a")
    handle:close()
    for _, flag in ipairs(targets.by_name[got].needs) do assert.matches("%f[%w_]" .. flag .. "%f[^%w_]", text) end
  end)

  it("is lowered by LIBXSMM_TARGET, never raised", function()
    local best = host("")
    assert.equal(math.min(rank[best], rank.avx2), rank[host("hsw")])
    assert.equal(math.min(rank[best], rank.avx2), rank[host("HSW")])
    assert.equal(math.min(rank[best], rank.avx512), rank[host("clx")])
    assert.equal("x86_64", host("snb"))
    assert.equal("x86_64", host("wsm"))
    assert.equal(best, host("nonsense"))
  end)

  it("is one with instructions of bf16 or int8 only for a model that has such products", function()
    local machine = targets.machine(os.getenv)
    local plain = targets.by_name[targets.host(machine)]
    assert.is_nil(plain.only_for)
    assert.equal(plain.name, targets.host(machine, { f32 = true }))
    for _, precision in ipairs { "bf16", "int8" } do
      local found = targets.by_name[targets.host(machine, { [precision] = true })]
      for _, flag in ipairs(found.needs) do
        assert.matches("%f[%w_]" .. flag .. "%f[^%w_]", helper.read("/proc/cpuinfo"))
      end
      local rule = {} -- the plain one's, except for what is prefetched
      for name, value in pairs(found.rule) do rule[name] = value end
      rule.stream_rows, rule.near = plain.rule.stream_rows, plain.rule.near
      assert.same(plain.rule, rule)
    end
  end)

  it("has strips of few rows that prefetch nothing on targets of one maker alone", function()
    local own = { avx512bf16 = { 4, 0 }, avx2 = { 3, 4096 } }
    for _, target in ipairs(targets.list) do
      assert.same(own[target.name] or { 1, 4096 }, { target.rule.stream_rows, target.rule.near }, target.name)
    end
  end)

  it("has every form of products that its targets name", function()
    for _, target in ipairs(targets.list) do
      for _, type in ipairs(types.of_weights) do
        for _, rows in ipairs { type.name, "f32" } do
          assert.is_table(require("kernels.forms").of(types.product(type.name, rows), target))
        end
      end
    end
  end)
end)

describe("a target's parameters of a product", function()
  it("are those of a deep product where its weights are many, by its rows", function()
    local function rule(kernels, seq, d_model)
      local state = helper.tiny({ seq = seq, d_model = d_model, heads = 4, d_ff = d_model, target = "avx512",
        kernels = kernels }, "plan")
      for _, region in ipairs(state.plan.segments[1].sections[1].regions) do
        for _, each in ipairs(region.fusions) do
          local p = each.parameters
          if p then return { p.panel, p.call_rows, p.fetch, #region.blocks } end
        end
      end
    end
    for _, kernels in ipairs { "auto", "c", "libxsmm" } do
      assert.same({ 64, 4096, 0, 2 }, rule(kernels, 128, 44)) -- not measured: two tiles of 64 rows
      assert.same({ 48, 4096, 1, 2 }, rule(kernels, 128, 176)) -- not deep
      assert.same({ 32, 4096, 0, 1 }, rule(kernels, 1, 192)) -- one strip
      assert.same({ 32, 4096, 0, 1 }, rule(kernels, 14, 192))
      assert.same({ 16, 4096, 0, 1 }, rule(kernels, 15, 192)) -- one strip of narrower panels
      assert.same({ 16, 4096, 0, 1 }, rule(kernels, 24, 192))
      assert.same({ 48, 4096, 1, 1 }, rule(kernels, 25, 192))
      assert.same({ 48, 4096, 1, 1 }, rule(kernels, 128, 192))
      assert.same({ 48, 4096, 1, 2 }, rule(kernels, 512, 192))
      assert.same({ 48, 4096, 1, 3 }, rule(kernels, 512, 528))
    end
  end)

  it("may be those of one number type of weights", function()
    local parameters = tuning.parameters { spec = { target = "amx", plan = {}, kernels = "c",
      symbols = { rows = { is_open = false } } } }
    local function panel(word, rows)
      return parameters.of((" n %d "):format(rows), { shape = { 768, 768 }, type = types.of_word[word] }).panel
    end
    assert.same({ 80, 80, 32 }, { panel("int8", 16), panel("int8", 64), panel("int8", 256) })
    assert.same({ 64, 32, 32 }, { panel("bf16", 16), panel("bf16", 64), panel("bf16", 256) })
  end)

  it("are those of small weights, of few rows, or of rows that only a call knows", function()
    local function of(target, word, outputs, inputs, rows, is_open)
      local p = tuning.parameters { spec = { target = target, plan = {}, kernels = "c",
        symbols = { rows = { is_open = is_open or false } } } }
        .of((" n %d "):format(rows), { shape = { outputs, inputs }, type = types.of_word[word] })
      return { p.panel, p.fetch, p.stream }
    end
    assert.same({ 48, 1, 0 }, of("avx512", "f32", 128, 512, 4)) -- 256 KB
    assert.same({ 48, 1, 3072 }, of("avx512", "f32", 128, 520, 4))
    assert.same({ 48, 1, 0 }, of("avx512", "bf16", 128, 1024, 3))
    assert.same({ 48, 1, 3072 }, of("avx512", "bf16", 128, 1032, 3))
    -- bf16 that strips widen, and bf16 that an instruction multiplies
    assert.same({ 48, 32, 80, 48 }, { of("avx512", "bf16", 768, 768, 512, true)[1],
      of("avx512bf16", "bf16", 768, 768, 512, true)[1], of("avx512", "bf16", 140, 140, 1)[1],
      of("avx512bf16", "bf16", 140, 140, 1)[1] })
    assert.same({ 64, 0, 0 }, of("avx512", "f32", 40, 512, 4)) -- fewer than 48 outputs
    assert.same({ 32, 0, 0 }, of("avx512bf16", "int8", 64, 24, 15))
    assert.same({ { 64, 1, 0 }, { 48, 1, 0 } }, { of("avx512", "bf16", 61, 61, 1), of("avx512", "bf16", 65, 61, 3) })
    assert.same({ { 16, 1, 3072 }, { 48, 1, 0 } }, { of("avx2", "f32", 40, 40, 1, true), of("avx2", "f32", 40, 40, 1) })
    assert.same({ { 32, 1, 0 }, { 48, 1, 0 } }, { of("avx2", "f32", 64, 512, 2), of("avx2", "f32", 64, 512, 1) })
    assert.same({ 16, 32, 32, 16 }, { of("avx2", "f32", 768, 768, 24)[1], of("avx2", "f32", 768, 768, 25)[1],
      of("avx2", "f32", 768, 768, 27)[1], of("avx2", "f32", 768, 768, 28)[1] })
    assert.same({ 32, 1, 0 }, of("avx2", "f32", 128, 512, 4))
    assert.same({ 16, 1, 3072 }, of("avx2", "f32", 128, 512, 4, true))
    assert.same({ 32, 1, 3072 }, of("avx2", "bf16", 128, 512, 4, true))
    assert.same({ 32, 48, 48 }, { of("avx512bf16", "int8", 768, 768, 3)[1], of("avx512bf16", "int8", 768, 768, 4)[1],
      of("avx512vnni", "int8", 768, 768, 3)[1] }) -- rows that prefetch nothing, and others
    assert.same({ 64, 64, 80, 80 }, { of("amx", "int8", 256, 256, 1)[1], of("amx", "int8", 256, 256, 16)[1],
      of("amx", "int8", 256, 256, 17)[1], of("amx", "int8", 256, 384, 1)[1] }) -- one tile of rows
    assert.same({ 16, 48 }, { of("avx512", "f32", 768, 256, 6)[1], of("avx512", "f32", 768, 257, 6)[1] })
  end)
end)
