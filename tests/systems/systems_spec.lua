-- systems_spec: libraries for other operating systems than Linux. Windows' are built by mingw-w64 and run under wine;
-- macOS' are compiled by zig's compiler, and their names are looked at. `make test-systems` installs these and runs it.
local helper = require("tests.spec.helper")

local root = helper.absolute_root()
local quote = helper.shell
local scratch = root .. "/out/spec/systems"
local weights = quote(root .. "/models/speaker/speaker.safetensors")
local wine = ("WINEPREFIX=%s WINEDEBUG=-all timeout 300 wine"):format(quote(root .. "/out/systems/wine"))
local zig = root .. "/out/systems/bin/python -m ziglang"

local function build(environment, folder, more, model)
  return helper.succeeds(("cd %s && %s gen/attn2c build %s --libraries kernels=c threads=2 -o %s %s")
    :format(quote(root), environment, model or "models/speaker.lua", quote(scratch .. "/" .. folder), more))
end

-- Compiles a host of a library. Returns what it prints.
local function host(compiler, folder, libraries, runs, of, source)
  helper.succeeds(("%s -std=c11 -Wall -Wextra -Werror -O1 -I%s %s/tests/systems/%s -o %s/host.exe %s"):format(
    compiler, folder, quote(root), source or "host.c", folder, libraries), scratch)
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

  it("takes text, with the libraries that its toolchain lacks", function()
    local language, of = "models/language", quote(root .. "/models/language")
    local folder = quote(root .. "/out/systems/windows")
    build("", "linux_text", "target=avx2", language)
    local expected = host("cc", "linux_text", "linux_text/liblanguage.a -lutf8proc -lpcre2-8 -lm -lpthread", "", of,
      "host_text.c")
    assert.matches("^0: %d+ %d+ %d+ %x+\n$", expected)
    local environment = ("ATTN2C_CFLAGS=-I%s/include ATTN2C_LDFLAGS=-L%s/lib "):format(folder, folder) .. windows
    build(environment, "windows_text", "target=avx2", language)
    assert.equal(expected, host("x86_64-w64-mingw32-gcc", "windows_text", "windows_text/language.dll", wine, of,
      "host_text.c"))
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

describe("a Python package for", function()
  -- Makes the package of the speaker, unpacks it, and returns the words of its tag.
  local function wheel(environment, folder, target)
    local said = helper.succeeds(("cd %s && %s gen/attn2c wheel models/speaker.lua --weights %s kernels=c threads=2 "
      .. "target=%s -o %s"):format(quote(root), environment, weights, target, quote(scratch .. "/" .. folder)))
    local path = assert(said:match("^(%g+%.whl) "))
    helper.succeeds(("unzip -qo %s"):format(quote(path)), scratch .. "/" .. folder)
    return path:match("py3%-none%-(.*)%.whl$")
  end

  it("Windows has a library with the bits of Linux for its packed weights, and no program", function()
    build("", "linux", "target=avx2")
    local expected = host("cc", "linux", "linux/libspeaker.a -lm -lpthread", "")
    build("CROSS=x86_64-w64-mingw32-", "packed", "target=avx2") -- for the header
    assert.equal("win_amd64", wheel("CROSS=x86_64-w64-mingw32-", "packed", "avx2"))
    helper.succeeds("cp speaker/speaker.dll .; test ! -e speaker/speaker; test ! -e speaker/__main__.py",
      scratch .. "/packed")
    assert.equal(expected, host("x86_64-w64-mingw32-gcc -municode", "packed", "packed/speaker.dll", wine,
      quote(scratch .. "/packed/speaker/speaker.weights")))
  end)

  it("macOS says which version it needs", function()
    assert.matches("^macosx_%d%d_0_arm64$", wheel(("CC=%s"):format(quote(zig .. " cc -target aarch64-macos")), "mac",
      "aarch64"))
    assert.equal("macosx_13_0_arm64", wheel(("CC=%s"):format(quote(zig .. " cc -target aarch64-macos.13.0")), "mac",
      "aarch64"))
    helper.succeeds("test -s speaker/libspeaker.dylib -a -s speaker/speaker.weights", scratch .. "/mac")
  end)
end)
