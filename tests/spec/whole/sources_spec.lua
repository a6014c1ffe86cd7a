-- sources_spec.lua: models with an encoder beside a decoder that goes on: `check` compares both with the reference,
-- and scripts of calls with other sources give the bits of one whole sequence. Logits of the library are those of
-- tests/oracle/definition.py.
local helper = require("tests.spec.helper")
local cases = dofile(helper.root .. "/tests/oracle/cases.lua")
local targets = require("data.targets")
local version = require("common.version")

local FLAGS = helper.optimised_runtime
local root = helper.shell(helper.absolute_root())

-- Keys of a model, and of its encoder: another width, shared key heads, windows in either stack, distances of T5, rows
-- that callers give, states of bf16 and int8, weights in scale blocks, tables by layer,
-- one sequence alone, sources shorter and longer than a page of keys.
local models = {
  { [[layers = 2, context = 90, chunk = 20, sequences = 3, kv_heads = 2, positions = "rope", norm = "pre",
    mask = "causal"]], [[seq = any(70), d_model = 60, heads = 5, kv_heads = 5, layers = 2, positions = "alibi",
    mask = { window = { 9, 4 } }, input = tokens { vocab = 23, types = 2 }]] },
  { [[layers = { { mask = { window = { 9, 0 } } }, {} }, context = 40, chunk = 9, cache = "int8", mask = "causal",
    precision = "bf16", kv_heads = 1]], [[seq = any(17), layers = 1, input = linear { from = 21 }]] },
  { [[layers = 1, context = 50, chunk = 50, sequences = 2, cache = "bf16", positions = "t5", norm_kind = "rms",
    mask = "causal", target = "avx2, x86_64"]], [[seq = any(80), layers = 0, positions = "none"]] },
  { [[layers = 2, context = 40, chunk = 9, sequences = 2, mask = "causal",
    precision = { "int8", ["encoder attention"] = "int8" }]], [[seq = any(33), layers = 2]] },
  { [[layers = 2, context = 40, chunk = 9, d_model = 64, mask = "causal", weights = "int8", positions = "t5",
    t5_by_layer = true]], [[seq = any(33), layers = 2, t5_by_layer = true]] },
  { [[layers = 2, context = 40, chunk = 9, d_model = 64, mask = "causal", weights = "int4"]], [[seq = any(33),
    layers = 2]] },
  { [[layers = 2, context = 60, chunk = 9, sequences = 4, precision = "int8", cache = "int4", mask = "causal"]],
    [[d_model = 40, heads = 5, layers = 2, input = image { height = 9, width = 6, channels = 1, patch = 3 }]] },
  { [[layers = 1, context = 30, sequences = 2, cache = "bf16", mask = "causal", target = "avx2, x86_64"]],
    [[seq = 70, layers = 1, positions = "relative_key", input = linear { from = 5 }]] },
}

local folder

-- Returns what a line of shell prints in the folder; it must succeed.
local function runs(line)
  local code, errors, output = helper.script(("cd '%s' && %s"):format(folder, line), folder)
  assert.equal(0, code, line .. "\n" .. errors .. output)
  return output
end

describe("a model with an encoder and a context", function()
  setup(function() folder = helper.folder() end)
  teardown(helper.clean)

  -- Queries that are rounded for a cache of integers move a context by more than the errors of usual models. Numbers
  -- that follow are then rounded to the other neighbour.
  it("is right where errors of attention decide how numbers are rounded", function()
    helper.write(folder .. "/rounded.lua", [[return { name = "rounded", d_model = 31, heads = 1, d_ff = 67, layers = 1,
      scale = 1, context = 5, cache = "int4", precision = "bf16", mask = "causal",
      bias = { down = true, norm = true, up = false },
      input = tokens { vocab = 112, width = 15, norm = true, eps = 0.5 },
      memory = encoder { input = hidden {}, seq = any(17), positions = "convolution", position_kernel = 3,
        position_groups = 1, position_activation = "tanh" } }]])
    local target = targets.runs_on(targets.machine(os.getenv))("avx2") and "avx2" or "x86_64"
    runs(("%s %s/tests/program.lua rounded.lua out threads=2 target=%s"):format(FLAGS, root, target))
    runs("out/rounded check --seed 11")
  end)

  for i, keys in ipairs(helper.sample(models, 4)) do
    -- In `make test` each for one number of workers: the first for two.
    local first, last = 1, 2
    if not helper.is_long then first, last = i % 2 + 1, i % 2 + 1 end
    it(("is right for %d to %d workers: "):format(first, last) .. keys[1]:gsub("%s+", " "), function()
      helper.write(("%s/reader%d.lua"):format(folder, i), ([[return { name = "reader", d_model = 48, heads = 4,
        input = tokens { vocab = 40 }, output = { vocabulary {} }, %s, memory = encoder { %s } }]]):format(
        table.unpack(keys)))
      for threads = first, last do
        runs(("%s %s/tests/program.lua reader%d.lua out threads=%d"):format(FLAGS, root, i, threads))
        local said = runs("out/reader check")
        assert.truthy(said:find("reader, encode, seed", 1, true) and said:find("reader, forward, seed", 1, true), said)
        assert.truthy(said:find("l0.cross.k.kept", 1, true) and said:find("after another source", 1, true), said)
        assert.equal(keys[1]:find("sequences", 1, true) ~= nil, said:find("beside another source", 1, true) ~= nil)
      end
      assert.truthy(runs("out/reader check --nan"):find("reader, encode, seed", 1, true))
      -- It compares the variants, of sequences that share a source.
      if helper.is_long or i == 1 then runs("out/reader bench -r 1") end
    end)
  end
end)

-- A window hides most rows of the source from the others, and with them a NaN.
local leaks = {
  { "_ops.c", "s/^  attn2c_context_repair(c, p, v, /&0 * /", "seen in l0.cross.k.kept", "both variants" },
  { "_encode.c", "s/context_repair_[^;]*;//", "seen in source", "the shipped variant" },
}

describe("a NaN of a source", function()
  setup(function() folder = helper.folder() end)
  teardown(helper.clean)

  for _, leak in ipairs(leaks) do
    it("that is let through by " .. leak[4] .. " is found by check --nan alone", function()
      helper.write(folder .. "/leaky.lua", [[return { name = "leaky", d_model = 24, heads = 2, layers = 1, context = 12,
        mask = "causal", input = tokens { vocab = 9 }, output = { vocabulary {} },
        memory = encoder { seq = any(20), layers = 1, mask = { window = { 3, 2 } } } }]])
      runs(("%s %s/tests/program.lua leaky.lua leaky"):format(helper.spoiling(leak[1], leak[2]), root))
      runs("leaky/leaky check")
      local code, said = helper.run("leaky/leaky check --nan", folder)
      assert.equal(1, code, said)
      assert.truthy(said:match("^leaky, encode, seed 1\n.-first to diverge: NaN in source_hidden, place %d+, "
        .. leak[3]), said)
    end)
  end
end)

-- Writes a case's weights, description, and ids without headers; returns the logits that it must have.
local function unpacked(name)
  local case = cases.read(("%s/tests/oracle/sources/%s.safetensors"):format(helper.root, name))
  cases.write(case, folder)
  for _, input in ipairs { "source_ids", "ids" } do
    local array = case.arrays["input/" .. input]
    if array then helper.write(("%s/%s"):format(folder, input), array.bytes) end
  end
  return case.arrays["expected/logits"]
end

describe("its library", function()
  setup(function() folder = helper.folder() end)
  teardown(helper.clean)

  -- In `make test` one build has all results; the others have only the library that is used.
  local function build(is_whole)
    if is_whole or helper.is_long then
      runs(("lua5.4 %s/gen/attn2c build description.lua --libraries -o reader"):format(root))
      return
    end
    local library = "libreader.so." .. version.abi
    runs(("rm -rf reader; lua5.4 %s/tests/program.lua description.lua reader --answers --only=%s && ln -s %s "
      .. "reader/libreader.so"):format(root, library, library))
  end

  local HOST = "%s -Wall -Wextra -Wpedantic -Werror -Ireader %s/tests/c/host_sources.c -o host -Lreader -lreader "
    .. "-Wl,-rpath,$PWD/reader && ./host model.safetensors source_ids ids logits saved"

  for i, name in ipairs { "post", "t5", "apart" } do
    it("computes what the definition says: " .. name, function()
      local expected = unpacked(name)
      build(i == 1)
      runs(HOST:format(i == 1 and "g++ -std=c++11 -x c++" or "gcc -std=c99", root))
      local got = { shape = expected.shape:gsub(" ", ""), format = "<f", bytes = helper.read(folder .. "/logits") }
      assert.is_nil(cases.difference(expected, got))
    end)
  end

  for _, name in ipairs { "pictures", "frames" } do
    it("reads sources of one length from Python: " .. name, function()
      local expected = unpacked(name)
      build(false)
      runs(("/usr/bin/python3 -W error %s/tests/bindings/sources.py reader"):format(root))
      local got = { shape = expected.shape:gsub(" ", ""), format = "<f", bytes = helper.read(folder .. "/logits") }
      assert.is_nil(cases.difference(expected, got))
    end)
  end
end)
