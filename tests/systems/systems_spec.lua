-- systems_spec: libraries for other operating systems than Linux. Windows' are built by mingw-w64 and run under wine;
-- macOS' are compiled by zig's compiler, and their names are looked at. `make test-systems` installs these and runs it.
local helper = require("tests.spec.helper")

local root = helper.absolute_root()
local quote = helper.shell
local scratch = root .. "/out/spec/systems"
local weights = quote(root .. "/models/speaker/speaker.safetensors")
local wine = ("WINEPREFIX=%s WINEDEBUG=-all timeout 300 wine"):format(quote(root .. "/out/systems/wine"))
local zig = root .. "/out/systems/bin/python -m ziglang"

local function build(environment, folder, more)
  return helper.succeeds(("cd %s && %s gen/attn2c build models/speaker.lua --libraries kernels=c threads=2 -o %s %s")
    :format(quote(root), environment, quote(scratch .. "/" .. folder), more))
end

-- Compiles the host of a library. Returns what it prints.
local function host(compiler, folder, libraries, runs, of)
  helper.succeeds(("%s -std=c11 -Wall -Wextra -Werror -O1 -I%s %s/tests/systems/host.c -o %s/host.exe %s"):format(
    compiler, folder, quote(root), folder, libraries), scratch)
  local _, said = helper.run(("%s %s/host.exe %s"):format(runs, folder, of or weights), scratch)
  return (said:gsub("\r", ""))
end

setup(function() os.execute(("rm -rf %s && mkdir -p %s"):format(quote(scratch), quote(scratch))) end)

describe("a library for Windows", function()
  setup(function() helper.run(wine .. " wineboot -i") end) -- which prints while it makes its folder

  local windows = "CROSS=x86_64-w64-mingw32-"
  local compiler = "x86_64-w64-mingw32-gcc -municode"

  it("gives the bits that it gives on Linux, as a DLL and linked in, and refuses what is wrong", function()
    build("", "linux", "target=avx2")
    local expected = host("cc", "linux", "linux/libspeaker.a -lm -lpthread", "")
    assert.matches("^0: %x+\n$", expected)
    assert.truthy(build(windows, "windows", "target=avx2"):find("/libspeaker.a, speaker.dll, speaker.h", 1, true))
    assert.equal(expected, host(compiler, "windows", "windows/speaker.dll", wine))
    assert.equal(expected, host(compiler, "windows", "windows/libspeaker.a -l:libwinpthread.a", wine))
    local copy, missing = scratch .. "/наши ä€.safetensors", scratch .. "/nicht da, ä€"
    helper.succeeds(("cp %s %s"):format(weights, quote(copy)))
    assert.equal(expected, host(compiler, "windows", "windows/speaker.dll", wine, quote(copy)))
    assert.equal(("4: %s: cannot be opened: No such file or directory\n"):format(missing),
      host(compiler, "windows", "windows/speaker.dll", wine, quote(missing)))
    assert.matches("^4: [^\n]*: [^\n]+\n$", host(compiler, "windows", "windows/speaker.dll", wine, quote(scratch)))
    assert.matches("^3: [^\n]+\n$", host(compiler, "windows", "windows/speaker.dll", wine,
      quote(root .. "/Makefile")))
  end)

  it("shows the names of its interface only", function()
    local shown = helper.succeeds("x86_64-w64-mingw32-objdump -p windows/speaker.dll", scratch)
    local names = 0
    for name in shown:match("%[Ordinal/Name Pointer%] Table(.-)\n\n"):gmatch("%] ([%w_]+)") do
      assert.matches("^speaker_", name)
      names = names + 1
    end
    assert.truthy(names > 8)
  end)

  it("is all that there is: the program is refused", function()
    local code, said = helper.run(("cd %s && %s gen/attn2c build models/speaker.lua kernels=c target=avx2 -o %s 2>&1")
      :format(quote(root), windows, quote(scratch .. "/program")))
    assert.equal(2, code)
    assert.equal("attn2c: the compiler makes code for windows, for which there are only libraries: build --libraries\n",
      said)
  end)
end)

describe("a library for macOS", function()
  it("is compiled, and shows the names of its interface only", function()
    local said = build(("CC=%s"):format(quote(zig .. " cc -target aarch64-macos")), "macos", "target=aarch64")
    assert.truthy(said:find("/libspeaker.a, libspeaker.dylib, speaker.h", 1, true))
    local shown, names = helper.succeeds("llvm-nm -g --defined-only macos/libspeaker.dylib", scratch), 0
    for name in shown:gmatch(" [TSD] (%g+)") do
      if not name:find("dso_handle", 1, true) and not name:find("_mh_", 1, true) then
        assert.matches("^_speaker_", name)
        names = names + 1
      end
    end
    assert.truthy(names > 8)
  end)
end)
