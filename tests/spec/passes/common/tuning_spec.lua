-- tuning_spec: tuning files: their form and what is refused, when one fits, what wins over
-- what, that the same file makes the same C; products alone; and the command.
local helper = require("tests.spec.helper")
local alone = require("commands.tune.alone")
local companion = require("commands.companion")
local files = require("common.files")
local hash = require("common.hash")
local lfs = require("lfs")
local library = require("commands.products.library")
local measure = require("commands.tune.measure")
local targets = require("data.targets")
local tuning = require("passes.common.tuning")

local function beside(description) return companion.beside(description, "tune") end

local FIRST = "attn2c tuning 5 avx512 Some-CPU\n"
local STRIPS = " call_rows 3 fetch 1 stream 128"
local LINE = "48x16 n 8 +bias: kernels libxsmm panel 32 token_block 4" .. STRIPS
  .. "; 20.5 GFLOP/s, rule 10.0\n"

local function choice(more)
  local result = { kernels = "libxsmm", panel = 32, token_block = 4, call_rows = 3,
    fetch = 1, stream = 128, gflops = 20.5, rule_gflops = 10 }
  for key, value in pairs(more or {}) do result[key] = value end
  return result
end

-- The state after `last` of the tiny model with choices for its products.
local function tuned(choices, more, last)
  local pipeline = require("pipeline")
  local state = { root = helper.root, file = "tiny.lua", overrides = {}, text = "", notes = {},
    host = function() return "avx2" end, description = helper.description(more),
    tuning = { set = { choices = choices, hash = "0123" } } }
  for _, name in ipairs(pipeline.passes) do
    if name ~= "describe" then
      pipeline.step(state, name)
      if name == last then break end
    end
  end
  return state.entries[1]
end

local UP, DOWN, QKV = "64x16 n 8 +bias_gelu", "16x64 n 8 +bias_add", "16x16 n 8 +bias"

describe("keys of products", function()
  it("name outputs, inputs, rows and epilogue", function()
    local _, order = measure.products(helper.tiny({}, "plan"))
    local keys = {}
    for i, product in ipairs(order) do keys[i] = product.key end
    assert.same({ QKV, "16x16 n 8 +bias_add", UP, DOWN }, keys)
  end)

  it("say so where there is no epilogue", function()
    local _, order = measure.products(helper.tiny({ bias = false }, "plan"))
    assert.equal("16x16 n 8 +none", order[1].key)
  end)

  it("do not depend on the token block", function()
    local _, order = measure.products(helper.tiny({ plan = { token_block = 3 } }, "plan"))
    assert.equal(QKV, order[1].key)
  end)

  it("hold the work of all layers", function()
    local products = measure.products(helper.tiny({ layers = 3 }, "plan"))
    assert.equal(3 * 3 * 2 * 8 * 16 * 16, products[QKV].flops)
    assert.equal(9, #products[QKV].ops)
    local kinds = {} -- with the epilogue: kernels in C do it in the same call, others in a call of its own
    for i, op in ipairs(products[DOWN].ops) do kinds[i] = op.op end
    assert.equal("linear add linear add linear add", table.concat(kinds, " "))
    assert.equal(UP, products[DOWN].main)
  end)
end)

describe("a tuning file", function()
  it("reads back what was written", function()
    local set = { target = "avx512", machine = "Some-CPU",
      choices = { [QKV] = choice(), [UP] = choice { panel = 64 } } }
    local text = tuning.text(set)
    local rest = " token_block 4" .. STRIPS .. "; 20.5 GFLOP/s, rule 10.0\n"
    assert.equal(FIRST .. QKV .. ": kernels libxsmm panel 32" .. rest
      .. UP .. ": kernels libxsmm panel 64" .. rest, text)
    assert.same(set, tuning.parse(text, "x.tune"))
    set.choices[QKV].is_disturbed = true -- by other work, while it was measured
    assert.equal(FIRST .. QKV .. ": kernels libxsmm panel 32" .. rest:gsub("\n", ", disturbed\n"),
      tuning.text(set):match("^.-\n.-\n"))
    assert.same(set, tuning.parse(tuning.text(set), "x.tune"))
  end)

  it("may have no product", function()
    assert.same({}, tuning.parse(FIRST, "x.tune").choices)
  end)

  it("has products of all types of weights", function()
    for _, words in ipairs { { precision = "bf16" }, { precision = "int8" }, { weights = "int4" },
      { weights = "int4m" }, { weights = "int8h" } } do
      words.d_model, words.d_ff = 64, 128
      local set = { target = "avx512", machine = "A", choices = {} }
      for key in pairs(measure.products(helper.tiny(words, "plan"))) do set.choices[key] = choice() end
      assert.same(set, tuning.parse(tuning.text(set), "x.tune"))
    end
  end)

  local function refused(text, expected)
    local fault = assert(helper.fault(tuning.parse, text, "x.tune"), "nothing was refused")
    assert.equal(3, fault.code)
    assert.equal(1, #fault.lines)
    assert.equal(expected, fault.lines[1])
  end

  it("is refused with the line and what is allowed", function()
    local form = "\"OUTxIN n ROWS +EPILOGUE: PARAMETERS; N GFLOP/s, rule N\" is expected"
    refused("", "x.tune: line 1: \"\", but \"attn2c tuning FORMAT TARGET MACHINE\" is expected")
    refused("attn2c tuning 3 avx512 X\n", "x.tune: line 1: format 3, but 5 is allowed: delete the file, and tune again")
    refused("attn2c tuning 5 sse9 X\n", "x.tune: line 1: no target \"sse9\"")
    refused(FIRST .. "\n", "x.tune: line 2: \"\", but " .. form)
    refused(FIRST .. "48x16 n 8: panel 32\n", "x.tune: line 2: \"48x16 n 8: panel 32\", but " .. form)
    refused(FIRST .. LINE .. LINE, "x.tune: line 3: a second line for \"48x16 n 8 +bias\"")
    for _, rate in ipairs { "2.0.5", ("9"):rep(400) } do
      local line = LINE:gsub("20.5", rate)
      refused(FIRST .. line, "x.tune: line 2: " .. require("common.faults").quote((line:gsub("\n", ""))) .. ", but "
        .. form)
    end
    local function with(from, to) return FIRST .. LINE:gsub(from, to) end
    refused(with("panel 32", "panel 33"),
      "x.tune: line 2: panel \"33\", but a multiple of 16 from 16 to 256 is allowed")
    refused(with("panel 32", "panel 99999999999999999999"),
      "x.tune: line 2: panel \"99999999999999999999\", but a multiple of 16 from 16 to 256 is allowed")
    refused(with("call_rows 3", "call_rows 0"),
      "x.tune: line 2: call_rows \"0\", but an integer from 1 to 4096 is allowed")
    refused(with("libxsmm", "mkl"), "x.tune: line 2: kernels \"mkl\", but c or libxsmm is allowed")
    refused(with("panel 32", "panel 32 k_block 8"),
      "x.tune: line 2: no parameter \"k_block\"; there are " .. table.concat(tuning.names, ", "))
    refused(with("panel", "pane"),
      "x.tune: line 2: no parameter \"pane\"; there are " .. table.concat(tuning.names, ", "))
    refused(with("pad", "pad"):gsub("panel 32", "pad 8"),
      "x.tune: line 2: no parameter \"pad\"; there are " .. table.concat(tuning.names, ", "))
    refused("attn2c tuning 5 aarch64 X\n" .. LINE, "x.tune: line 2: kernels \"libxsmm\", which goes with the targets "
      .. "amx, avx512bf16, avx512vnni, avx512, avxvnni, avx2 and x86_64, not with aarch64")
    refused(with(" token_block 4", ""), "x.tune: line 2: token_block is missing")
    refused(with("panel 32 token_block 4", "token_block 4 panel 32"), "x.tune: line 2: "
      .. require("common.faults").quote("kernels libxsmm token_block 4 panel 32" .. STRIPS)
      .. ", but each parameter once, in order, is expected")
  end)

  it("that is too large is refused, and one that is a folder cannot be read", function()
    local path = helper.file(FIRST .. ("x"):rep(1 << 20), "x.tune")
    assert.equal(3, helper.fault(tuning.read, path).code)
    assert.equal(4, helper.fault(tuning.read, helper.folder()).code)
    assert.is_nil(tuning.read(helper.folder() .. "/none.tune"))
    helper.clean()
  end)

  it("lies beside the description", function()
    assert.equal("models/a.tune", beside("models/a.lua"))
    assert.equal("models/a.tune", beside("models/a"))
  end)

  it("names the processor in one word", function() assert.truthy(tuning.machine():match("^[%w.-]+$")) end)
end)

describe("the parameters of a product", function()
  local function fusion(state, key)
    for _, segment in ipairs(state.plan.segments) do
      for _, section in ipairs(segment.sections) do
        for _, region in ipairs(section.regions) do
          for _, each in ipairs(region.fusions) do if each.key == key then return each, region end end
        end
      end
    end
    return nil
  end

  it("are the file's for those it names, the rule's for others", function()
    local state = tuned({ [UP] = choice() }, {}, "plan")
    local up, region = fusion(state, UP)
    assert.same({ 32, 32 }, up.panels.widths)
    assert.equal(3, up.parameters.call_rows)
    assert.same({ 0, 4, 4, 4 }, { region.blocks[1].first, region.blocks[1].count, region.blocks[2].first,
      region.blocks[2].count })
    local down = fusion(state, DOWN)
    assert.equal(4096, down.parameters.call_rows)
    assert.equal("0123", state.parameters.hash)
  end)

  it("are the description's before all", function()
    local state = tuned({ [UP] = choice() }, { plan = { panel = 16, token_block = 8 } }, "plan")
    local up, region = fusion(state, UP)
    assert.same({ 16, 16, 16, 16 }, up.panels.widths)
    assert.equal(3, up.parameters.call_rows)
    assert.equal(1, #region.blocks)
  end)

  it("are made by whom the description says, else the file, else the rule", function()
    local function maker(of_file, more)
      local choices = of_file and { [UP] = choice { kernels = of_file } } or {}
      return tuned(choices, more, "plan").parameters.provider(UP)
    end
    assert.equal("c", maker(nil, {}))
    assert.equal("libxsmm", maker("libxsmm", {}))
    assert.equal("c", maker("c", {}))
    assert.equal("c", maker("libxsmm", { kernels = "c" }))
    assert.equal("c", maker("libxsmm", { plan = { kernels = "c" } }))
    assert.equal("libxsmm", maker("c", { kernels = "libxsmm" }))
    assert.equal("libxsmm", maker(nil, { plan = { kernels = "libxsmm" } }))
    assert.equal("c", maker(nil, { kernels = "c", plan = { kernels = "libxsmm" } }))
  end)

  it("of a region's largest product decide its token block", function()
    local state = tuned({ [DOWN] = choice { token_block = 2 } }, {}, "plan")
    local _, region = fusion(state, DOWN)
    assert.equal(1, #region.blocks) -- up is as large, and comes first
  end)

  it("leave no hash where no line applied", function()
    assert.is_nil(tuned({ ["1x1 n 1 +none"] = choice() }, {}, "plan").parameters.hash)
  end)

  it("may differ in everything and still make sound code", function()
    local state = tuned({ [QKV] = choice { panel = 16, token_block = 3 }, [UP] = choice { panel = 48, token_block = 5 },
      [DOWN] = choice { call_rows = 5 } }, { layers = 2 })
    local checks = require("passes.checks")
    for _, name in ipairs { "plan", "lower", "schedule", "memory" } do
      if checks[name] then checks[name](state) end
    end
    assert.truthy(helper.emitted(state, "tiny.c"):find("with tuning 0123 for avx512", 1, true))
  end)

  it("are the same C each time, and the rule's without a file", function()
    local function text(choices)
      local parts = {}
      for _, file in ipairs(tuned(choices, {}).files) do parts[#parts + 1] = file.text end
      return table.concat(parts)
    end
    assert.equal(text { [UP] = choice(), [QKV] = choice() }, text { [QKV] = choice(), [UP] = choice() })
    assert.equal(text {}, text { ["1x1 n 1 +none"] = choice() })
    assert.not_equal(text {}, text { [UP] = choice() })
  end)
end)

describe("a product by itself", function()
  local small = targets.runs_on(targets.machine(os.getenv))("x86_64") and "x86_64" or "generic"
  local function products(more, target)
    more.target = target or "avx512"
    local _, order = measure.products(helper.tiny(more, "plan"))
    return order, targets.by_name[more.target]
  end

  after_each(helper.clean)

  it("has candidates that make other calls, the rule's first, without what the description decides", function()
    local order, target = products { d_model = 192, d_ff = 256, seq = 40 }
    for _, product in ipairs(order) do
      local seen, list = {}, alone.candidates(product, target)
      assert.equal(product.choice.panel, list[1].choice.panel)
      for _, each in ipairs(list) do
        local text = each.calls[1].signature
        assert.is_nil(seen[text])
        seen[text] = true
        assert.equal(each.choice, each.same[1])
      end
      assert.is_true(#list > 10)
      product.fixed = { panel = 32 }
      for i, each in ipairs(alone.candidates(product, target)) do
        if i > 1 then assert.equal(32, each.choice.panel) end
      end
      product.fixed = { kernels = "libxsmm" }
      assert.is_nil(alone.candidates(product, target))
    end
  end)

  it("is left to the model if its weights have scale blocks", function()
    local order, target = products { d_model = 64, d_ff = 128, weights = "int4" }
    assert.is_true(#order > 0)
    for _, product in ipairs(order) do assert.is_nil(alone.candidates(product, target)) end
  end)

  it("of any length has calls of few and many rows, and token blocks share its functions", function()
    local order, target = products { d_model = 192, d_ff = 256, seq = { any = 200 } }
    local rows, all, list = {}, {}, alone.candidates(order[1], target)
    for i, each in ipairs(list[1].calls) do rows[i] = each.rows end
    assert.same({ 16, 128, 200 }, rows)
    for _, each in ipairs(list) do table.move(each.calls, 1, #each.calls, #all + 1, all) end
    assert.is_true(#list > 25 and select(2, library.text(all, target.vector):gsub("noinline", "")) <= 10)
  end)

  it("takes the token block that suits the whole region", function()
    local function product(key, flops)
      return { key = key, main = "p", outputs = 64, inputs = 64, rows = 128, flops = flops,
        choice = { token_block = 128 } }
    end
    local function candidate(panel, token_block, ratio)
      return { choice = { panel = panel, token_block = token_block }, ratio = ratio, rule_ns = 100 }
    end
    local order = { product("p", 2), product("q", 2) }
    local found = { p = { candidate(48, 128, 1), candidate(32, 128, 0.95), candidate(32, 64, 0.8) },
      q = { candidate(48, 128, 1), candidate(48, 64, 1.1), candidate(16, 64, 1.05) } }
    local best = alone.best(order, found, 0.01)
    assert.same({ 32, 64, 16, 64 }, { best.p.choice.panel, best.p.choice.token_block, best.q.choice.panel,
      best.q.choice.token_block })
    order[2].flops = 20 -- now the other product counts for more
    best = alone.best(order, found, 0.01)
    assert.same({ 32, 128, 48, 128 }, { best.p.choice.panel, best.p.choice.token_block, best.q.choice.panel,
      best.q.choice.token_block })
    found.q = nil
    best = alone.best(order, found, 0.01)
    assert.same({ 64 }, { best.p.choice.token_block })
    assert.is_nil(best.q)
  end)

  it("is timed with each candidate, within its time", function()
    local order, target = products({ seq = 40, d_model = 32, heads = 2, d_ff = 64 }, small)
    local folder, lines = helper.folder(), {}
    local root = helper.absolute_root()
    local found, count = alone.run(root, folder, { order[1] }, target, 600, function(line) lines[#lines + 1] = line end)
    local list = found[order[1].key]
    assert.equal(count, #list)
    assert.equal(1, #lines)
    assert.equal(1, list[1].ratio)
    for _, each in ipairs(list) do assert.is_true(each.ratio > 0.01 and each.ratio < 100 and each.ns > 0) end
    found, count = alone.run(root, folder, order, target, 0, error)
    assert.same({}, found)
    assert.equal(0, count)
    order[1].fixed = { panel = 16, stream = 0 }
    local ok, line = pcall(alone.run, root, folder, { order[1] }, target, 600, function(text) error(text, 0) end)
    assert.is_true(not ok and line:find(": %d candidates$") ~= nil, line)
    for name in lfs.dir(folder) do assert.matches("^%.+$", name) end
  end)
end)

describe("the command with a tuning file", function()
  local DESCRIPTION = 'return { name = "tiny", seq = 8, d_model = 16, heads = 2, layers = 1, target = "avx512" }'
  local function described(tune, name)
    local path = helper.file(DESCRIPTION)
    if tune then files.write_all(path:match("^(.*)/"), { { name = name or "tiny.tune", text = tune } }) end
    return path
  end
  local GOOD = "attn2c tuning 5 avx512 %s\n"
  GOOD = (GOOD .. "%s: kernels c panel 32 token_block 4" .. STRIPS
    .. "; 2.0 GFLOP/s, rule 1.0\n"):format(tuning.machine(), UP)

  after_each(helper.clean)

  -- Runs tune without a limit of time and interrupts it when its errors have a pattern of grep, within ten minutes.
  -- Returns its errors.
  local function interrupted(path, options, pattern)
    local folder = helper.folder()
    local script = ("cd %s && { lua5.4 %s tune %s target=x86_64 --budget 500 %s 2>errors & p=$!; "
      .. "i=0; while [ $i -lt 6000 ] && kill -0 $p && ! grep -q %s errors; do sleep 0.1; "
      .. "i=$((i + 1)); done; kill -INT $p; wait $p; }"):format(folder,
      helper.shell(helper.absolute_root() .. "/gen/attn2c"), path, options, helper.shell(pattern))
    local handle = assert(io.popen(script))
    handle:read("a")
    handle:close()
    return files.read(folder .. "/errors")
  end

  -- Runs tune with more time than the slowest machine needs for the few candidates that are left if the description
  -- decides the panel. Returns its code, output, errors, and the folder where it ran. before: shell words.
  local function tuned_to_end(before, ...)
    local folder, words = helper.folder(), { "tune", ... }
    table.move({ "target=x86_64", "plan.stream=0", "--budget", "5000" }, 1, 4, #words + 1, words)
    local code, output, errors = helper.command(words, folder, before)
    return code, output, errors, folder
  end

  -- Makes a compiler that says who it is, and then does this.
  local function compiler(does)
    local path = helper.folder() .. "/cc"
    helper.write(path, "#!/bin/sh\nfor word; do case $word in -c) " .. does .. ";; esac; done\nexec cc \"$@\"\n")
    assert(os.execute("chmod +x " .. helper.shell(path)))
    return "CC=" .. helper.shell(path)
  end

  it("uses the one beside the description, and names its hash", function()
    local path = described(GOOD)
    local folder = path:match("^(.*)/") .. "/out"
    local code, _, errors = helper.command { "gen", path, "-o", folder }
    assert.equal(0, code)
    assert.matches("^attn2c: [^\n]*/tiny%.tune: is used, because it is next to the description; %-%-tuning=none goes "
      .. "without it\n$", errors)
    assert.truthy(files.read(folder .. "/tiny.c"):find(hash.text(GOOD), 1, true))
    assert.equal(0, (helper.command { "gen", path, "-o", folder, "--tuning", "none" }))
    assert.is_nil(files.read(folder .. "/tiny.c"):find("tuning", 1, true))
  end)

  it("uses one that is named", function()
    local path = described(GOOD, "other.tune")
    local other = path:match("^(.*)/") .. "/other.tune"
    local _, plain = helper.command { "show", path, "--stage", "plan" }
    local code, output, errors = helper.command { "show", path, "--stage", "plan", "--tuning", other }
    assert.is_true(code == 0 and plain ~= output and errors == "")
    assert.truthy(output:find("rows in blocks of 4 4", 1, true))
  end)

  it("ignores one without a line for any product, and says so once for all lengths", function()
    local path = described(GOOD)
    local function show(...) return helper.command { "show", path, "--stage", "plan", "seq={4,6}", ... } end
    local code, output, errors = show()
    assert.equal(0, code)
    assert.matches("^attn2c: [^\n]*/tiny%.tune: no line is for a product of this model: ignored\n$", errors)
    assert.equal(output, (select(2, show("--tuning", "none"))))
    errors = select(3, helper.command { "show", path, "--stage", "plan", "seq={4,8}" }) -- one is of the longest
    assert.is_nil(errors:find("no line", 1, true))
    files.write(path:gsub("%.lua$", ".tune"), GOOD:match("^[^\n]*\n")) -- of a `tune` that has kept the rule
    assert.equal("", (select(3, show())))
  end)

  it("ignores one for another target, and says so", function()
    local path = described((GOOD:gsub("avx512", "avx2")))
    local code, output, errors = helper.command { "show", path, "--stage", "plan" }
    assert.equal(0, code)
    assert.truthy(errors:match("^attn2c: .*/tiny%.tune: made for avx2, but the target is avx512: ignored\n$"))
    local _, plain = helper.command { "show", path, "--stage", "plan", "--tuning", "none" }
    assert.equal(plain, output)
  end)

  it("uses one from another machine, and says so", function()
    local path = described((GOOD:gsub("avx512 [^\n]*", "avx512 Another-CPU")))
    local code, output, errors = helper.command { "show", path, "--stage", "plan" }
    assert.equal(0, code)
    assert.truthy(errors:find("measured on Another-CPU, but this is ", 1, true))
    assert.truthy(output:find("rows in blocks of 4 4", 1, true))
  end)

  it("refuses one that is malformed or missing", function()
    local path = described("attn2c tuning 5 avx512 X\nnonsense\n")
    local code, output, errors = helper.command { "gen", path, "-o", path:match("^(.*)/") .. "/out" }
    assert.equal(3, code)
    assert.equal("", output)
    assert.truthy(errors:match("^attn2c: .*/tiny%.tune: line 2: \"nonsense\", but [^\n]*\n$"))
    code, output, errors = helper.command { "gen", path, "--tuning", "/nowhere/x.tune" }
    assert.equal("", output)
    assert.equal(4, code)
    assert.equal("attn2c: cannot read /nowhere/x.tune\n", errors)
  end)

  local FOUND = ": [1-9]%d* candidates by themselves, %d+ [%w ]*in the model in %d+ s"

  it("tunes: writes a file that is read back, keeps lines of other products, and says what all needs", function()
    local path = described("attn2c tuning 5 x86_64 Old\n" .. LINE)
    local code, output, errors, folder = tuned_to_end(nil, path, "plan.token_block=8",
      helper.is_long and "plan.panel=16" or "kernels=c")
    assert.equal(0, code, errors)
    local text = files.read(beside(path))
    local set = tuning.parse(text, "tiny.tune")
    assert.same({ "x86_64", tuning.machine() }, { set.target, set.machine })
    assert.same(choice(), set.choices["48x16 n 8 +bias"])
    for _, key in ipairs { QKV, UP, DOWN } do assert.truthy(output:find("| " .. key .. " | ", 1, true)) end
    assert.truthy(errors:find("the rule", 1, true))
    local all, budget = errors:match(
      "about (%d+) candidates in the model of [%d.]+ s each; all of them need %-%-budget=(%d+)\n")
    assert.truthy(all, errors)
    assert.is_true(tonumber(all) >= 1 and tonumber(budget) >= 10)
    assert.matches(FOUND, output)
    assert.is_nil(lfs.attributes(folder .. "/out/tiny.variants/tune/alone"))
  end)

  it("times a model that writes by all calls alike, and its rates by the one of most tokens", function()
    local folder = helper.folder()
    helper.write(folder .. "/m", "#!/bin/sh\n"
      .. "[ \"$*\" = 'bench --profile -o json -r 5 --brief --cold 3 --length 64' ] || exit 2\ncat <<'END'\n"
      .. '{"call":"prefill","tokens":16,"profile":{"sections":[{"ms_min":9}],"results":[{"ms_min":8},{"ms_min":4}]}}\n'
      .. '{"call":"decode","tokens":2,"profile":{"sections":[{"ms_min":9}],"results":[{"ms_min":2},{"ms_min":1}]}}\n'
      .. "END\n")
    assert(os.execute("chmod +x " .. helper.shell(folder .. "/m")))
    local x, y = {}, {}
    local function product(rows, op)
      return { outputs = 4, inputs = 2, count = 3, flops = 2 * 4 * 2 * 3 * rows, ops = { op }, decides = {} }
    end
    local built = { folder = ("../"):rep(32) .. folder:sub(2),
      state = { entries = { { graph = { entry = { ops = { x, y } } } } },
        spec = { name = "m", least = 1, sequences = 2,
          symbols = { tokens = { most = 128, is_open = true }, past = { is_open = true } } } },
      products = { layer = product(256, x), logits = product(2, y) } }
    local result = measure.run(built, { repetitions = 5, cold_megabytes = 3 })
    assert.near(6, result.ms, 1e-9)       -- the geometric mean of 12 and 3
    assert.near(15, result.all_ms, 1e-9)
    assert.near(4, result.of.layer.own, 1e-9)
    assert.near(8 * 256 / 16, result.of.layer.ms, 1e-9)
    assert.near(4 * 2, result.of.logits.ms, 1e-9) -- one row of each sequence
    assert.equal(0, result.of.layer.region)
  end)

  it("tune, interrupted, leaves the file as it was, and says so", function()
    local interrupts = compiler("kill -INT $PPID; exec sleep 60") -- at the same place on a machine of any speed
    for _, text in ipairs { ("attn2c tuning 5 x86_64 %s\n"):format(tuning.machine()) .. LINE, false } do
      local path, folder = described(text or nil), helper.folder()
      local code, _, errors = helper.command({ "tune", path, "target=x86_64", "--budget", "500" }, folder,
        interrupts)
      assert.same({ 130, text or nil }, { code, files.read(beside(path)) })
      assert.truthy(errors:find("attn2c: interrupted after 0 candidates; ", 1, true), errors)
      assert.truthy(errors:find(text and " has the choices found so far\n" or "; nothing was found\n", 1, true), errors)
    end
  end)

  it("tunes within a small budget, and says how far it came", function()
    local path = described()
    local before = helper.cpu_of_children()
    local code, output, errors = helper.command({ "tune", path, "target=x86_64", "--budget", "1" }, helper.folder())
    assert.equal(0, code, errors)
    assert.matches(": %d+ candidates by themselves, %w+ [%w ]*in the model in %d+ s", output)
    assert.is_true(helper.cpu_of_children() - before < 15)
  end)

  it("tune keeps the file's choices if it compares nothing", function()
    local first = ("attn2c tuning 5 x86_64 %s\n"):format(tuning.machine())
    local line = QKV .. ": kernels c panel 16 token_block 7 call_rows 5 fetch 0 stream 0; 90000.0 GFLOP/s, rule 10.0\n"
    local path = described(first .. line)
    local code, output, errors = helper.command({ "tune", path, "target=x86_64", "--budget", "1" }, helper.folder(),
      compiler("exec sleep 60"))
    assert.equal(0, code, errors)
    assert.truthy(files.read(beside(path)):find("\n" .. line, 1, true), output)
    assert.truthy(output:find("| 90000.0 | 9000.000 |", 1, true), output)
    assert.matches("; choices that the file had stay%. ", output)
  end)

  it("tune measures choices again that were measured while other work disturbed it", function()
    local line = QKV .. ": kernels c panel 16 token_block 7 call_rows 5 fetch 0 stream 0; 90000.0 GFLOP/s, rule 10.0"
    local path = described(("attn2c tuning 5 x86_64 %s\n%s, disturbed\n"):format(tuning.machine(), line))
    local code, output, errors = helper.command({ "tune", path, "target=x86_64", "--budget", "1" }, helper.folder(),
      compiler("exec sleep 60"))
    assert.equal(0, code, errors)
    assert.is_nil(output:find("90000", 1, true), output)
    assert.matches("; the rule is kept%. ", output)
    assert.truthy(files.read(beside(path)):find(line, 1, true)) -- until another one is measured
  end)

  it("tune says that other work disturbs it where half of the rule's runs take far longer than the quickest", function()
    local subject = require("commands.tune.subject")
    local form = subject.new { products = {} }
    for _, each in ipairs { { { 1, 1.1, 2 } }, { { 1, 1.2, 9, 1.1 } }, { { 1, 1.4, 1.3, 1.5 }, true } } do
      form.calls = each[1]
      local said = form:disturbed()
      assert.equal(each[2], said and said:find("^Other work disturbed the timing: half of the calls took 1%.3") == 1
        or nil)
    end
  end)

  it("tune begins with the file's choices: it times them in the model", function()
    local line = QKV .. ": kernels c panel 16 token_block 4 call_rows 5 fetch 0 stream 0; 90000.0 GFLOP/s, rule 10.0\n"
    local path = described(("attn2c tuning 5 x86_64 %s\n"):format(tuning.machine()) .. line)
    local errors = interrupted(path, "-v", QKV .. "  *C: 16, 4  *[0-9c]")
    assert.matches(QKV:gsub("%+", "%%+") .. " +C: 16, 4 +[%dc]", errors)
  end)

  it("tune drops a choice of another processor, and one that the plan overrides", function()
    local line = QKV .. ": kernels c panel 16 token_block 7 call_rows 5 fetch 0 stream 0; 90000.0 GFLOP/s, rule 10.0\n"
    for _, each in ipairs { { "Old", "plan.panel=16" }, { tuning.machine(), "plan.panel=32" } } do
      local path = described(("attn2c tuning 5 x86_64 %s\n"):format(each[1]) .. line)
      local code, output, errors = tuned_to_end(nil, path, "kernels=c", "d_ff=0", each[2])
      assert.equal(0, code, errors)
      assert.is_nil(files.read(beside(path)):find("90000", 1, true))
      assert.is_nil(output:find("the file had", 1, true), output)
    end
  end)

  it("tune of a model with many layers tries candidates in few, and compares in all", function()
    local root, path = helper.absolute_root(), helper.folder() .. "/cache.lua"
    helper.write(path, ("package.preload['commands.tune.shorter'] = function() local made = dofile(%q); "
      .. "made.cache = function() return 1 end; return made end"):format(root .. "/gen/commands/tune/shorter.lua"))
    local code, output, errors, folder = tuned_to_end("LUA_INIT=@" .. helper.shell(path), described(), "layers=4",
      "kernels=c", "plan.panel=16", "plan.token_block=8", "d_ff=0")
    assert.equal(0, code, errors)
    assert.truthy(errors:find("the rule: candidates have 2 of 4 layers\n", 1, true), errors)
    assert.matches(FOUND, output)
    for _, name in ipairs { "rule", "few/rule" } do
      assert.equal("file", lfs.attributes(("%s/out/tiny.variants/tune/%s/tiny"):format(folder, name), "mode"))
    end
  end)

  it("tune refuses a target that this machine cannot run, before it builds", function()
    local machine = targets.machine(os.getenv)
    local other = machine == "x86_64" and "aarch64" or "x86_64"
    local code, output, errors = helper.command { "tune", described(), "target=" .. other }
    assert.equal(6, code)
    assert.equal("", output)
    assert.truthy(errors:find(("target %s: tune measures candidates here, but this machine cannot run them\n"):format(
      other), 1, true), errors)
  end)

  it("tune refuses ranks and stages, and says what to do", function()
    for _, word in ipairs { "ranks=2", "stages=2" } do
      local path = described()
      local code, output, errors = helper.command { "tune", path, "layers=2", "target=x86_64", word, "--budget", "1" }
      assert.equal(2, code)
      assert.equal("", output)
      assert.matches("^attn2c: [^\n]*/tiny%.lua: tune does not go with ranks or stages: tune with ranks=1 stages=1; "
        .. "[^\n]*\n$", errors)
      assert.is_nil(lfs.attributes(beside(path)))
    end
  end)

  it("tune refuses a budget that is none", function()
    local code, _, errors = helper.command { "tune", described(), "--budget=-3" }
    assert.equal(2, code)
    assert.truthy(errors:find('--budget: "-3", but 1 to 1000000 seconds are allowed', 1, true))
  end)
end)

describe("the bound", function()
  it("is printed with its parts", function()
    local path = helper.file('return { name = "tiny", seq = 8, d_model = 16, heads = 2, layers = 2 }')
    local folder = helper.folder()
    local code, output, errors = helper.command({ "bench", path, "--bound", "-r", "3", "-o", "json" }, folder)
    helper.clean()
    assert.equal(0, code, errors)
    local number = "([%d.e-]+)"
    local bound = assert(tonumber(output:match('"bound_ms": ' .. number)))
    local median = assert(tonumber(output:match('"ms_median": ' .. number)))
    local fraction = assert(tonumber(output:match('"bound_fraction": ' .. number)))
    assert.is_true(bound > 0)
    assert.is_true(math.abs(fraction - bound / median) < 1e-3 * fraction)
    local list, sum, count = assert(output:match('"bound": (%b[])')), 0, 0
    for part in list:gmatch("%b{}") do
      local calls, us = tonumber(part:match('"calls": ' .. number)), tonumber(part:match('"us": ' .. number))
      assert.is_true(calls >= 1 and us > 0)
      count, sum = count + 1, sum + calls * us / 1000
    end
    assert.is_true(math.abs(sum - bound) < 1e-3 * bound)
    assert.truthy(list:find('"name": "64x16 n 8 +bias_gelu", "kind": "product", "calls": 2.0', 1, true))
    assert.truthy(list:find('"kind": "attention"', 1, true))
    assert.truthy(list:find('"name": "layer_norm_', 1, true))
  end)

  it("counts the loops over micro-batches and sequences", function()
    local state = helper.tiny { batch = 3, seq = 8, plan = { group_tokens = 8 } }
    local values = require("passes.emit.bound").values(state)
    assert.equal(QKV, values.bound_products[1].name)
    assert.equal("9.0", values.bound_products[1].calls)
    local softmax
    for _, row in ipairs(values.bound_rows) do if row.name:find("^softmax") then softmax = row end end
    assert.equal("6.0", softmax.calls) -- three sequences, two heads
    local together = require("passes.emit.bound").values(helper.tiny { batch = 3, seq = 8 })
    assert.equal("16x16 n 24 +bias", together.bound_products[1].name)
    assert.equal("3.0", together.bound_products[1].calls)
    for _, row in ipairs(together.bound_rows) do
      if row.name:find("^softmax") then assert.equal("6.0", row.calls) end
    end
  end)
end)
