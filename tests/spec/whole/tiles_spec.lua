-- tiles_spec: models in tiles of AMX: several threads, a fork, callers side by side, two models in turn, one library
-- for several targets, linked-in and packed weights, PyTorch's goldens, what is said where there are no tiles. The
-- kernels' own bits are in kernels/compiled. The tiles are emulated, or with ATTN2C_TILES=real those of this processor.
local helper = require("tests.spec.helper")
local checkpoints = require("tests.spec.checkpoint")
local files = require("common.files")

local root = helper.absolute_root()
local folder = root .. "/out/spec/tiles"
local golden = root .. "/tests/torch/goldens/torch_causal70"
local shell = helper.shell

local is_real = os.getenv("ATTN2C_TILES") == "real"
local START = is_real and "lua5.4" or helper.emulated_tiles -- in front of what builds
local WEIGHTS, INPUT = shell(golden .. "/model.safetensors"), shell(golden .. "/hidden.npy")

local function sh(command) return helper.succeeds(command, folder) end

-- Builds the golden's model with other keys.
local function build(start, name, words)
  sh(("%s %s build %s name=%s plan.least_phase=0 plan.least_team=0 %s -o %s"):format(start,
    shell(root .. "/gen/attn2c"), shell(golden .. "/description.lua"), name, words, name))
end

-- The states that a program gives, as the bytes of their file.
local function answer(target, name, weights)
  sh(("ATTN2C_TARGET=%s %s/%s run %s --input %s --output y.npy"):format(target, name, name,
    weights and "--weights " .. weights or "", INPUT))
  return files.read(folder .. "/y.npy")
end

local TURNS = [[
import sys
import numpy as np
sys.path[:0] = ["crew", "other"]
import crew, other
hidden = np.load(sys.argv[2])
with crew.Model(sys.argv[1]) as first, other.Model() as second:
    for turn in range(3):
        for model, expected in ((first, "crew.npy"), (second, "other.npy")):
            assert (model.forward(hidden=hidden)["hidden"] == np.load(expected)).all(), (turn, expected)
]]

local WRITER = [[return { name = "%s", d_model = 128, heads = 4, kv_heads = %d, layers = 2, d_ff = 64, norm = "pre",
  positions = "rope", mask = %s, context = 120, sequences = 3, chunk = 48, input = { stage = "tokens", vocab = 90 },
  output = { { stage = "vocabulary" } }, precision = "bf16" }]]

-- A prompt, tokens one by one, pieces of any length, and a call with pieces of several sequences: the same logits.
local GOES_ON = [=[
import importlib
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
ids = np.random.default_rng(3).integers(0, 90, 100).astype("int32")
with importlib.import_module(sys.argv[1]).Model(sys.argv[2]) as model, model.state() as state:
    whole = state.prefill(ids, 0, all=True)
    single = np.stack([state.decode(ids[i:i + 1], [1])[0] for i in range(len(ids))])
    assert (single == whole).all()
    for pieces in [1, 2, 3, 33, 61], [40, 1, 59], [7] * 14 + [2]:
        state.rewind(0, 2)
        ends = np.cumsum(pieces)
        of = [state.prefill(ids[end - count:end], 2, all=True) for count, end in zip(pieces, ends)]
        assert (np.concatenate(of) == whole).all(), pieces
    for each in range(3):
        state.rewind(0, each)
    for first, last in ([0, 0, 0], [70, 13, 1]), ([70, 13, 1], [71, 60, 2]):
        for at, of in enumerate(state.extend([ids[a:b] for a, b in zip(first, last)], [0, 1, 2], all=True)):
            assert (of == whole[first[at]:last[at]]).all(), (first, at)
]=]

local APART = "import sys, numpy as np; print(abs(np.load(sys.argv[1]) - np.load(sys.argv[2])).max())"

-- How closely tests/torch/precision.py knows any correct result (ALLOWED).
local KNOWN = 1e-4

describe("where there are no tiles", function()
  setup(function() files.make_folder(folder) end)

  it("a library goes on to its next target, and one for amx alone is refused in a line", function()
    if is_real then return end
    build("lua5.4", "plain", "'target=amx, avx2' precision=int8")
    if sh("plain/plain info"):find("in use       amx;", 1, true) then return end -- it has some
    assert.truthy(sh("plain/plain info"):find("in use       avx2;", 1, true))
    assert.is_true(answer("", "plain", WEIGHTS) == answer("avx2", "plain", WEIGHTS))
    local code, said = helper.run("ATTN2C_TARGET=amx plain/plain check", folder)
    assert.equal(6, code)
    assert.matches("^plain: ATTN2C_TARGET: amx, but this machine lacks [%w' -]+\n$", said)
  end)
end)

-- Emulated tiles stand for the instructions of tiles only: the rest of a kernel for amx has AVX-512.
local has_avx512 = helper.read("/proc/cpuinfo"):find(" avx512vl ", 1, true) ~= nil
local tried = has_avx512 and it or pending
local function prepare(make) return setup(function() if has_avx512 then make() end end) end

describe(is_real and "in this processor's tiles," or "in emulated tiles,", function()
  local crew, other

  prepare(function()
    files.make_folder(folder)
    build(START, "crew", "'target=amx, avx2' threads=3 'precision={\"bf16\", attention=\"bf16\"}'")
    build(START, "other", "target=amx precision=int8 --embed=" .. WEIGHTS)
    crew, other = answer("amx", "crew", WEIGHTS), answer("amx", "other")
    helper.write(folder .. "/crew.npy", crew)
    helper.write(folder .. "/other.npy", other)
  end)

  tried("models of bf16 and int8 pass their check", function()
    for _, line in ipairs { "ATTN2C_TARGET=amx crew/crew", "ATTN2C_TARGET=avx2 crew/crew", "other/other" } do
      local said = sh(line .. " check")
      assert.truthy(said:find(" 0 failed\n", 1, true), said)
    end
    assert.truthy(files.read(folder .. "/crew/crew_amx_kernels.c"):find("attn2c_tile_bf16(", 1, true))
    assert.truthy(files.read(folder .. "/other/other_kernels.c"):find("attn2c_tile_int8(", 1, true))
  end)

  tried("a library for several targets uses them, and its targets differ", function()
    assert.truthy(sh("crew/crew info"):find("in use       amx;", 1, true))
    assert.is_true(crew == answer("", "crew", WEIGHTS))
    assert.is_false(crew == answer("avx2", "crew", WEIGHTS))
  end)

  tried("threads, the child of a fork and callers side by side give the same bits", function()
    sh(("cc -std=c11 -Wall -Wextra -Werror -Icrew -o host %s crew/libcrew.a -lpthread -lm"):format(
      shell(root .. "/tests/c/host_threads.c")))
    local bits
    for _, cores in ipairs { "", "taskset -c 0" } do -- as many threads as there are cores
      sh(("%s timeout 600 ./host %s 2>bits"):format(cores, WEIGHTS))
      local now = files.read(folder .. "/bits")
      bits = bits or now
      assert.is_true(#now > 0 and now == bits)
    end
  end)

  tried("models give what PyTorch does, within what is known of it", function()
    for _, case in ipairs { "bf16_wide", "int8_wide" } do
      local from = root .. "/tests/torch/goldens/" .. case
      sh(("%s %s %s %s target=amx"):format(START, shell(root .. "/tests/program.lua"),
        shell(from .. "/description.lua"), case))
      assert.truthy(files.read(("%s/%s/%s_kernels.c"):format(folder, case, case)):find("attn2c_tile_", 1, true))
      sh(("%s/%s run --weights %s --input %s --output %s.npy"):format(case, case, shell(from .. "/model.safetensors"),
        shell(from .. "/hidden.npy"), case))
      local apart = sh(("/usr/bin/python3 -c %s %s.npy %s"):format(shell(APART), case,
        shell(from .. "/expected_hidden.npy")))
      assert.is_true(tonumber(apart) <= KNOWN, ("%s: %s"):format(case, apart))
    end
  end)

  tried("two models in turn, by the Python modules, give what each gives alone", function()
    sh(("PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -W error -c %s %s %s"):format(shell(TURNS), WEIGHTS, INPUT))
  end)

  tried("prompts, single tokens and pieces of several sequences have the same bits", function()
    for name, kind in pairs { all = { 2, '"causal"' }, window = { 1, '{ "causal", window = { 40, 0 } }' } } do
      local path = ("%s/%s.lua"):format(folder, name)
      helper.write(path, WRITER:format(name, kind[1], kind[2]))
      helper.write(path .. ".st", checkpoints.text(path, "F32"))
      sh(("%s %s build %s.lua target=amx threads=3 -o %s"):format(START, shell(root .. "/gen/attn2c"), name, name))
      local kernels = files.read(("%s/%s/%s_kernels.c"):format(folder, name, name))
      assert.truthy(kernels:find("void product_bf16_nxmx32", 1, true))
      assert.is_nil(kernels:find("strip_x%d+_bf16"))
      sh(("PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -W error -c %s %s %s.lua.st"):format(shell(GOES_ON), name, name))
    end
  end)

  tried("packed weights give the same, and bench and its profile run", function()
    sh(("crew/crew pack --weights %s -o crew.weights && crew/crew pack --verify crew.weights"):format(WEIGHTS))
    assert.is_true(crew == answer("amx", "crew", "crew.weights"))
    for name, numbers in pairs { crew = "bf16", other = "int8" } do
      local said = sh(("ATTN2C_TARGET=amx %s/%s bench -r 1 -o json --profile"):format(name, name))
      assert.truthy(said:find('"target": "amx"', 1, true) and said:find('"precision": "' .. numbers, 1, true), said)
    end
  end)
end)

describe("where the system refuses tiles, as a sandbox does,", function()
  local REFUSED = "this machine lacks the system's permission for AMX"
  -- A program under a filter of system calls; nil where there are none.
  local function denied(words)
    local code, said = helper.run("./denied tiles " .. words, folder)
    if code == 77 then return nil end
    return code, said
  end

  prepare(function()
    sh(("cc -std=c11 -Wall -Wextra -Werror -O1 -o denied %s"):format(shell(root .. "/tests/c/denied.c")))
  end)

  tried("a library goes on to its next target", function()
    local code, said = denied("crew/crew info")
    if not code then return pending("filters of system calls are not possible here") end
    assert.equal(0, code, said)
    assert.truthy(said:find("in use       avx2;", 1, true), said)
    sh(("./denied tiles crew/crew run --weights %s --input %s --output y.npy"):format(WEIGHTS, INPUT))
    assert.is_true(files.read(folder .. "/y.npy") == answer("avx2", "crew", WEIGHTS))
  end)

  tried("one only for amx, or asked for by name, is refused in a line", function()
    local run = " run --weights %s --input %s --output no.npy"
    local code, said = denied("other/other" .. run:format("", INPUT):gsub("--weights ", ""))
    if not code then return pending("filters of system calls are not possible here") end
    assert.equal(6, code)
    assert.equal(("other: built for amx, but %s; build it again here with target=host\n"):format(REFUSED), said)
    code, said = helper.run("ATTN2C_TARGET=amx ./denied tiles crew/crew" .. run:format(WEIGHTS, INPUT), folder)
    assert.equal(6, code)
    assert.equal(("crew: ATTN2C_TARGET: amx, but %s\n"):format(REFUSED), said)
    assert.is_nil(files.read(folder .. "/no.npy"))
  end)
end)
