-- machines_spec: models for other processors than this one: built by cross compilers, checked under an
-- emulator, and refused where a target and a compiler do not go together.
local helper = require("tests.spec.helper")
local lfs = require("lfs")

local root, quote = require("common.libuv").fs_realpath(helper.root), helper.shell
local scratch = root .. "/out/spec/machines"

local MODEL = " d_model=32 heads=2 seq=8 layers=1 "

-- Runs a line in the scratch folder; returns its exit code, and what it said on both streams.
local function run(line)
  local handle = assert(io.popen(("cd %s && { %s; } 2>&1; echo \"=$?\""):format(quote(scratch), line)))
  local text = handle:read("a")
  handle:close()
  local said, code = text:match("^(.*)=(%d+)\n$")
  return tonumber(code), said
end

local function succeeds(line)
  local code, said = run(line)
  assert.equal(0, code, said)
  return said
end

local function attn2c(words) return ("lua5.4 %s %s"):format(quote(root .. "/gen/attn2c"), words) end

local small, speaker = quote(root .. "/models/small.lua"), quote(root .. "/models/speaker.lua")

setup(function() os.execute(("rm -rf %s && mkdir -p %s"):format(quote(scratch), quote(scratch))) end)

describe("for aarch64", function()
  local by_gcc = (helper.is_long and helper.optimised or "") .. " CROSS=aarch64-linux-gnu- "

  it("the command runs what it has built under the emulator, or says what is missing, and times no tiles", function()
    local said = succeeds("CROSS=aarch64-linux-gnu- " .. attn2c("check " .. small .. MODEL))
    assert.truthy(said:find(" 0 failed\n", 1, true), said)
    succeeds("mkdir -p path && ln -sf /usr/bin/aarch64-linux-gnu-* /usr/bin/lua5.4 /usr/bin/cp path/")
    local code
    local same_gcc = "CC=/usr/bin/aarch64-linux-gnu-gcc CROSS=aarch64-linux-gnu- " -- so that its objects are there
    code, said = run("PATH=$PWD/path " .. same_gcc .. attn2c("check " .. small .. MODEL))
    assert.equal(6, code)
    assert.matches("^attn2c: [^\n]*/small: is for aarch64, which this machine does not run; qemu%-aarch64 does, of "
      .. "Debian's package qemu%-user\n$", said)
    code, said = run(by_gcc .. attn2c("tune " .. small .. MODEL .. "-o small.tune"))
    assert.equal(2, code)
    assert.matches("^attn2c: tune measures the machine that it runs on, but CC or CROSS names a compiler for aarch64: "
      .. "[^\n]*\n$", said)
  end)

  for _, cache in ipairs(helper.is_long and { "int8", "int4" } or { "int8" }) do
    it("a model that writes passes it, with keys and values in " .. cache .. " that two workers share", function()
      helper.write(scratch .. "/writer.lua", [[return { name = "writer", context = 70, chunk = 9, d_model = 32,
        heads = 2, kv_heads = 1, layers = 1, threads = 2, positions = "rope", mask = "causal",
        input = tokens { vocab = 30 }, output = { vocabulary {} } }]])
      succeeds(("%s%s"):format(by_gcc, attn2c("build writer.lua cache=" .. cache .. " --static -o writer")))
      local said = succeeds("qemu-aarch64 writer/writer check")
      assert.truthy(said:find("token by token", 1, true) and said:find(" 0 failed\n", 1, true), said)
    end)
  end

  local function check_clang()
    local words = "build " .. small .. " d_model=20 heads=2 d_ff=33 'seq={4,9}' layers=1 threads=2 --static -o clang"
    succeeds("CC='clang --target=aarch64-linux-gnu' " .. attn2c(words))
    local said = succeeds("qemu-aarch64 clang/small check")
    assert.truthy(said:find(" 0 failed\n", 1, true), said)
  end
  if helper.is_long then it("threads, several lengths and odd widths pass it, built by clang", check_clang) end

  -- The other towers have no step that these models and `writer` lack.
  local towers = { siglip = { "pictures=false" } }
  if helper.is_long then
    local both = { "pictures=false", "tower=text tokenizer=false" }
    towers = { clip = both, siglip = both }
  end

  for case, tower_words in pairs(towers) do
    it("towers of " .. case .. " pass their checks, without pictures and texts", function()
      local folder = quote(root .. "/tests/hf/towers/" .. case)
      for _, words in ipairs(tower_words) do
        local said = succeeds(("%s %s --weights %s"):format(by_gcc, attn2c("check " .. folder .. " " .. words), folder))
        assert.truthy(said:find(" 0 failed\n", 1, true), said)
      end
    end)
  end

  it("a static program of the trained model gives its answers, with weights that the emulator packs", function()
    local weights = quote(root .. "/models/speaker/speaker.safetensors")
    succeeds(by_gcc .. attn2c("build " .. speaker .. " batch=1 --static --embed " .. weights .. " -o speaker"))
    for _, more in ipairs { "", helper.is_long and " --weights " .. weights or nil } do
      local said = succeeds("qemu-aarch64 speaker/speaker check" .. more)
      assert.truthy(said:find(" 0 failed\n", 1, true), said)
    end
    assert.truthy(succeeds("qemu-aarch64 speaker/speaker info --json"):find('"target": "aarch64"', 1, true))
    assert.truthy(succeeds("aarch64-linux-gnu-objdump -d speaker/speaker"):find("fmla", 1, true))
  end)
end)

if helper.is_long then describe("for a processor without a target of its own", function()
  it("the libraries are plain C that builds, without a program", function()
    local said = succeeds("CROSS=riscv64-linux-gnu- " .. attn2c("build " .. small .. MODEL
      .. "--libraries -o riscv"))
    assert.equal("riscv/libsmall.a, libsmall.so, small.h, small.pc, small.py, attn2c_0_2_0.py, "
      .. "small-config.cmake, small.spdx.json\n",
      said)
    for _, name in ipairs { "libsmall.a", "libsmall.so" } do
      assert.truthy(succeeds("riscv64-linux-gnu-objdump -f riscv/" .. name):find("riscv:rv64", 1, true), name)
    end
    assert.is_nil(lfs.attributes(scratch .. "/riscv/small"))
    local sbom = succeeds("cat riscv/small.spdx.json")
    assert.truthy(sbom:find("target=generic --libraries", 1, true))
    assert.is_nil(sbom:find("jansson", 1, true))
  end)

  it("generic code passes its check on this machine", function()
    succeeds(attn2c("build " .. small .. MODEL .. "target=generic -o generic"))
    assert.truthy(succeeds("generic/small check"):find(" 0 failed\n", 1, true))
  end)
end) end

if helper.is_long then describe("with another C library, musl", function()
  it("a static program passes its check, is small, and has musl's licence", function()
    succeeds(helper.optimised .. " CC=musl-gcc " .. attn2c("build " .. small .. " d_model=64 heads=4 layers=4 "
      .. "d_ff=256 seq=32 kernels=c threads=2 --static -o musl"))
    assert.truthy(succeeds("musl/small check"):find(" 0 failed\n", 1, true))
    local said = succeeds("musl/small info --licenses")
    assert.truthy(said:find("musl, the C library", 1, true))
    assert.is_nil(said:find("GNU C Library", 1, true))
    assert.is_true(lfs.attributes(scratch .. "/musl/small", "size") < 575000)
    assert.truthy(succeeds("cat musl/small.spdx.json"):find('"name":"libc"', 1, true))
  end)
end) end

it("files that need only a C library are compiled with musl's headers", function()
  helper.succeeds("musl-gcc -std=c11 -fsyntax-only -I. measure/*.c program/licenses.c", root .. "/runtime")
end)

describe("a target and a compiler that do not go together", function()
  it("have C's kernels where their system has no libxsmm", function()
    local show = attn2c("show --stage validate " .. small .. MODEL .. "target=avx2 ")
    for _, windows in ipairs { "CROSS=x86_64-w64-mingw32- ", "CC=x86_64-w64-mingw32-gcc ",
      "CC='zig cc -target x86_64-macos' " } do
      assert.matches('\nkernels = "c"\n', succeeds(windows .. show))
    end
    assert.matches('\nkernels = "auto"\n', succeeds(show))
    local code, said = run("CROSS=x86_64-w64-mingw32- " .. show .. "kernels=libxsmm")
    assert.equal(2, code)
    assert.matches("^attn2c: [^\n]*: kernels: libxsmm goes with Linux, not with Windows\n$", said)
  end)

  it("are refused in one line", function()
    local code, said = run(attn2c("build " .. small .. MODEL .. "target=aarch64 -o refused"))
    assert.equal(2, code)
    assert.matches("^attn2c: target: aarch64, but the compiler makes code for [%w_]+; CC or CROSS "
      .. "%(aarch64%-linux%-gnu%-%) names another\n$", said)
    code, said = run("CROSS=aarch64-linux-gnu- " .. attn2c("build " .. small .. MODEL .. "kernels=libxsmm -o refused"))
    assert.equal(2, code)
    assert.matches("kernels: libxsmm goes with the targets amx, avx512bf16, avx512vnni, avx512, avxvnni, avx2 and "
      .. "x86_64, not with aarch64\n$", said)
    code, said = run("CROSS=nowhere- " .. attn2c("build " .. small .. MODEL .. "-o refused"))
    assert.equal(4, code)
    assert.matches("^attn2c: cannot compile: there is no compiler nowhere%-gcc %(CROSS%)\n$", said)
  end)
end)
