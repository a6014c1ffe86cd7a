-- targets_spec.lua: one library for several targets: how a description lists them, what is emitted for each, which is
-- used on which machine (an emulator has less than this one), packed and linked-in weights, and that no wide
-- instruction is where it must not be.
local helper = require("tests.spec.helper")
local checkpoints = require("tests.spec.checkpoint")
local files = require("common.files")
local lfs = require("lfs")
local targets = require("data.targets")

local root = helper.absolute_root()
local here = root .. "/out/spec/targets"
local NAMES = { "avx512", "avx2", "x86_64" }
local TINY = [[return { name = "tiny", target = "x86_64, avx512, avx2", input = tokens { vocab = 11 }, mask = "padding",
  batch = 2, d_model = 208, heads = 4, d_ff = 56, seq = { 4, 8 }, layers = 1, threads = 2,
  output = { pool "mean", linear { to = 7, name = "logits" } } }]]
-- Without what each target needs.
local MACHINES = { avx2 = "Haswell", x86_64 = "Nehalem" }

local try, runs = helper.runner(here)

local function attn2c(environment, ...)
  return { "env", environment, "lua5.4", root .. "/gen/attn2c", ... }
end

local function on(target, ...) return { "env", "ATTN2C_TARGET=" .. target, ... } end

-- Returns the targets of the list that this machine can run.
local function runnable()
  local list, best = {}, targets.host("x86_64")
  for i, name in ipairs(NAMES) do
    if name == best then table.move(NAMES, i, #NAMES, 1, list) end
  end
  return list
end

local function emitted(target) return helper.tiny({ target = target }) end

describe("a list of targets", function()
  it("may be a text or a table, in any order, and of one is that one", function()
    local function texts(state)
      local list = {}
      for i, file in ipairs(state.files) do list[i] = file.name .. "\n" .. file.text end
      return table.concat(list)
    end
    local expected = texts(emitted("avx512, avx2"))
    for _, value in ipairs { "avx2,avx512", " avx2 ,avx512 ", { "avx2", "avx512" } } do
      assert.equal(expected, texts(emitted(value)))
    end
    assert.equal(texts(emitted("avx2")), texts(emitted { "avx2" }))
  end)

  it("is refused with what is wrong", function()
    local function refused(value) return helper.refusals(helper.description { target = value }) end
    assert.same({ 'target: "avx2" and "aarch64" are of different processors, but one library is for one' },
      refused("avx2, aarch64"))
    for _, name in ipairs { "host", "generic" } do
      assert.same({ ('target: "%s" cannot be in a list; a list has targets of one processor: "avx512, avx2, x86_64"')
        :format(name) }, refused { name, "avx2" })
    end
    assert.same({ 'target: "avx2" is given twice' }, refused { "avx2", "avx2" })
    assert.same({ 'target: a list has only names of targets: { "avx512", "avx2" }' }, refused { avx2 = true })
    for _, holed in ipairs { { [2] = "avx2" }, { [0] = "avx2" }, { "avx2", [3] = "avx512" } } do
      assert.same({ 'target: a list has only names of targets: { "avx512", "avx2" }' }, refused(holed))
    end
    assert.same({ "target: an empty list, but the name of a target or a list of them is needed" }, refused {})
    local words = "host, amx, avx512bf16, avx512vnni, avx512, avxvnni, avx2, x86_64, aarch64 or generic"
    assert.same({ ('target: "", but %s is allowed'):format(words) }, refused("avx2,"))
    assert.same({ ('target: "avx3", but %s is allowed (did you mean avx2?)'):format(words) },
      refused { "avx3", "avx512" })
    assert.same({ ("target: 3, but %s is allowed"):format(words) }, refused(3))
  end)

  it("is one value of a command line, but for bench", function()
    local overrides = require("commands.overrides")
    overrides.check({ "target=avx2,x86_64" }, false)
    assert.equal(2, #overrides.combinations { "target=avx2,x86_64" })
    assert.equal(1, #overrides.combinations { 'target="avx2,x86_64"' })
  end)

  it("has code for each, and once what is the same", function()
    local state, names = emitted("avx512, avx2"), {}
    for _, file in ipairs(state.files) do names[file.name] = file.text end
    for _, target in ipairs { "avx512", "avx2" } do
      for _, form in ipairs { "tiny_%s.c", "tiny_%s_trace.c", "tiny_%s_ops.c", "tiny_%s_kernels.c",
        "attn2c_roof_%s.c" } do
        assert.truthy(names[form:format(target)], form)
      end
      for name in names["tiny_" .. target .. "_ops.h"]:gmatch("void ([%w_]+)%(") do
        assert.equal("_" .. target, name:sub(-#target - 1))
      end
    end
    local model = names["tiny_model.c"]
    assert.equal(1, select(2, model:gsub("static const attn2c_op ops", "")))
    assert.equal(1, select(2, model:gsub("static const attn2c_stored stored", "")))
    assert.equal(2, select(2, model:gsub("static const attn2c_entry entries", "")))
  end)
end)

describe("a library for several targets", function()
  setup(function()
    if lfs.attributes(here, "mode") then files.remove_folder(here) end
    files.make_folder(here)
    helper.write(here .. "/tiny.lua", TINY)
    helper.write(here .. "/tiny.st", checkpoints.text(here .. "/tiny.lua", "F32"))
    runs(attn2c("X=", "build", "tiny.lua", "-o", "tiny"))
    helper.write(here .. "/ids.npy", checkpoints.npy("10,", { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }))
    helper.write(here .. "/lengths.npy", checkpoints.npy("2,", { 7, 3 }))
  end)

  teardown(function() files.remove_folder(here) end)

  -- Returns the answer of a program. more: words of its command line.
  local function answer(target, program, ...)
    runs(on(target, program, "run", "--input", "ids=ids.npy", "--input", "lengths=lengths.npy", "--output",
      "logits=y.npy", ...))
    local text = files.read(here .. "/y.npy")
    os.remove(here .. "/y.npy")
    return text
  end

  it("passes its check for each", function()
    for _, name in ipairs(runnable()) do
      assert.truthy(runs(on(name, "tiny/tiny", "check")):find(" 0 failed\n", 1, true))
      local output = runs(on(name, "tiny/tiny", "bench", "-r", "1", "-o", "json", "--profile"))
      assert.truthy(output:find(('"target": "%s"'):format(name), 1, true), output)
    end
  end)

  it("is checked for each by one command, with kernels of libxsmm for each", function()
    local code, output = try(attn2c("X=", "check", "tiny.lua", "seq=8", "threads=1", "kernels=libxsmm",
      "target=avx2,x86_64"))
    assert.equal(#runnable() > 1 and 0 or 6, code)
    local said = {}
    for name in output:gmatch("target (%S+)\n") do said[#said + 1] = name end
    assert.same({ "avx2", "x86_64" }, said)
  end)

  it("uses the best that a machine has, and says so", function()
    for name, machine in pairs(MACHINES) do
      local _, text = try { "qemu-x86_64", "-cpu", machine, "tiny/tiny", "info" }
      assert.truthy(text:find("target       avx512, avx2, x86_64\n", 1, true), text)
      assert.truthy(text:find(("in use       %s; the lines below describe it\n"):format(name), 1, true), text)
      _, text = try { "qemu-x86_64", "-cpu", machine, "tiny/tiny", "info", "--json" }
      assert.truthy(text:find(('"in_use": "%s"'):format(name), 1, true), text)
      -- A check takes seconds there; that of avx2 runs above on any machine that has it.
      if helper.is_long or name == "x86_64" then
        local code, output = try { "qemu-x86_64", "-cpu", machine, "tiny/tiny", "check" }
        assert.equal(0, code)
        assert.truthy(output:find(" 0 failed\n", 1, true), output)
      end
    end
    assert.truthy(runs { "tiny/tiny", "info" }:find("in use       " .. runnable()[1], 1, true))
  end)

  it("refuses a target that it or the machine does not have", function()
    for _, word in ipairs { "info", "check", "pack" } do
      local code, _, errors = try(on("sse", "tiny/tiny", word))
      assert.equal(2, code)
      assert.equal("tiny: ATTN2C_TARGET: sse, but tiny is built for avx512, avx2, x86_64\n", errors)
    end
    local code, _, errors = try { "qemu-x86_64", "-cpu", "Nehalem", "-E", "ATTN2C_TARGET=avx2", "tiny/tiny", "check" }
    assert.equal(6, code)
    assert.equal("tiny: ATTN2C_TARGET: avx2, but this machine lacks AVX2\n", errors)
    local _, text = try { "qemu-x86_64", "-cpu", "Nehalem", "-E", "ATTN2C_TARGET=avx2", "tiny/tiny", "info" }
    assert.truthy(text:find("in use       none: this machine lacks AVX2; the lines below describe", 1, true), text)
  end)

  it("is opened for the target that is asked for, or not at all", function()
    local script = [[
import sys, numpy as np
sys.path.insert(0, "tiny")
import tiny
try:
    with tiny.Model("tiny.st") as model:
        ids, lengths = np.load("ids.npy"), np.load("lengths.npy")
        print(model.forward(ids=ids, lengths=lengths)["logits"].tobytes().hex())

except Exception as error:
    print(error)
]]
    helper.write(here .. "/ask.py", script)
    for _, name in ipairs(runnable()) do
      local expected = answer(name, "tiny/tiny", "--weights", "tiny.st"):sub(-2 * 7 * 4)
      local hex = expected:gsub(".", function(c) return ("%02x"):format(c:byte()) end)
      assert.equal(hex, runs(on(name, "/usr/bin/python3", "ask.py")):match("^%x+"))
    end
    assert.equal("ATTN2C_TARGET: sse, but tiny is built for avx512, avx2, x86_64\n",
      runs(on("sse", "/usr/bin/python3", "ask.py")))
  end)

  it("has no wide instruction outside of the code for its target", function()
    local file_of, file = {}, nil -- address of a function -> the source it is from, where its name does not say it
    for line in runs { "objdump", "-t", "tiny/libtiny.so.3" }:gmatch("[^\n]+") do
      local address, flags, rest = line:match("^(%x+) (.......) (.*)$")
      if flags and flags:find("f", 1, true) then file = rest:match("(%S*)$") end
      if flags and flags:find("F", 1, true) and file then file_of[tonumber(address, 16)] = file end
    end
    local at, name, seen = nil, nil, { ymm = 0, zmm = 0 }
    for line in runs { "objdump", "-d", "--no-show-raw-insn", "tiny/libtiny.so.3" }:gmatch("[^\n]+") do
      local address, symbol = line:match("^(%x+) <(.*)>:$")
      if address then at, name = tonumber(address, 16), symbol end
      for register in line:gmatch("%%([yz]mm)") do
        local of = name:match("_(avx%d+)$") or name:match("_(avx%d+)[_%.]") or (file_of[at] or ""):match("_(avx%d+)")
        assert.truthy(of == "avx512" or of == "avx2" and register == "ymm", line .. " in " .. name)
        seen[register] = seen[register] + 1
      end
    end
    assert.is_true(seen.ymm > 100 and seen.zmm > 100)
  end)

  it("takes weights that were packed for another of its targets", function()
    for _, name in ipairs(NAMES) do
      local expected = ("packed for %s; on its other targets tiny packs the weights again when it opens them\n")
      assert.equal(expected:format(name), runs(on(name, "tiny/tiny", "pack", "--weights", "tiny.st", "-o",
        name .. ".weights")))
    end
    assert.not_equal(files.read(here .. "/avx2.weights"), files.read(here .. "/avx512.weights"))
    for _, name in ipairs(runnable()) do
      local expected = answer(name, "tiny/tiny", "--weights", "tiny.st")
      for _, other in ipairs(NAMES) do
        assert.equal(expected, answer(name, "tiny/tiny", "--weights", other .. ".weights"))
        runs(on(name, "tiny/tiny", "pack", "--weights", other .. ".weights", "-o", "again.weights"))
        assert.equal(files.read(here .. "/" .. name .. ".weights"), files.read(here .. "/again.weights"))
        assert.truthy(runs(on(name, "tiny/tiny", "pack", "--verify", other .. ".weights")):find("checksum is right"))
      end
      assert.truthy(runs(on(name, "tiny/tiny", "check", "--nan", "--weights", "avx2.weights")):find(" 0 failed\n"))
    end
  end)

  it("refuses them where they are damaged, or of no target of its own", function()
    local text = files.read(here .. "/avx2.weights")
    helper.write(here .. "/bad.weights", text:sub(1, -9) .. "\1\2\3\4\5\6\7\8")
    for _, name in ipairs { "avx2", "x86_64" } do
      local code, _, errors = try(on(name, "tiny/tiny", "pack", "--weights", "bad.weights", "-o", "worse.weights"))
      assert.equal(3, code)
      assert.truthy(errors:find("damaged: their checksum is wrong", 1, true), errors)
      assert.is_nil(lfs.attributes(here .. "/worse.weights"))
    end
    runs { "lua5.4", root .. "/tests/program.lua", "tiny.lua", "alone", "--answers", "target=x86_64" }
    local code, _, errors = try { "alone/tiny", "check", "--weights", "avx2.weights" }
    assert.equal(3, code)
    assert.truthy(errors:find("for another target, avx2; this build is for x86_64; pack them again", 1, true),
      errors)
  end)

  it("has weights linked in for the first, whatever machine builds it", function()
    runs(attn2c("ATTN2C_TARGET=x86_64", "build", "tiny.lua", "--embed=f32", "--weights=tiny.st", "--static", "-o",
      "embedded"))
    assert.truthy(files.read(here .. "/embedded/tiny"):find(files.read(here .. "/avx512.weights"), 1, true))
    for _, name in ipairs(runnable()) do
      assert.equal(answer(name, "tiny/tiny", "--weights", "tiny.st"), answer(name, "embedded/tiny"))
    end
    runs { "qemu-x86_64", "-cpu", "Nehalem", "embedded/tiny", "run", "--input", "ids=ids.npy", "--input",
      "lengths=lengths.npy", "--output", "logits=emulated.npy" }
    assert.equal(answer("x86_64", "tiny/tiny", "--weights", "tiny.st"), files.read(here .. "/emulated.npy"))
  end)

  it("has kernels of libxsmm for the best", function()
    for _, name in ipairs { runnable()[1] } do
      local words = attn2c("ATTN2C_TARGET=" .. name, "check", "tiny.lua", "seq=8", "threads=1", "kernels=libxsmm")
      local code, output, errors = try(words)
      assert.equal(0, code, output .. errors)
    end
  end)
end)
