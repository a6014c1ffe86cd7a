-- toolchain_spec: the compiler and flags of the environment, and what tells them from others.
local helper = require("tests.spec.helper")
local libuv = require("common.libuv")
local toolchain = require("commands.build.toolchain")

local function new(environment)
  return toolchain.new(function(name) return environment[name] end)
end

describe("the toolchain", function()
  after_each(helper.clean)

  it("splits several words, and finds programs from any folder", function()
    local self = new { CC = " gcc  -m64 ", ATTN2C_CFLAGS = "-O1 -DX='a'", ATTN2C_LDFLAGS = "" }
    assert.same({ { "/usr/bin/gcc", "-m64" }, { "-O1", "-DX='a'" }, {} }, { self.compiler, self.cflags, self.ldflags })
    assert.equal("/usr/bin/cc", new({}).compiler[1])
    assert.equal("/usr/bin/cc", new({ CC = "" }).compiler[1])
  end)

  it("tells compilers, their files, words and variables apart", function()
    local wrapper = helper.file('#!/bin/sh\nexec cc "$@"\n', "wrap")
    os.execute("chmod +x " .. wrapper)
    local seen = {}
    for _, environment in ipairs { { CC = "gcc" }, { CC = "clang" }, { CC = "gcc -m64" }, { CC = wrapper },
      { CC = "gcc", CPATH = "/x" }, { CC = "gcc", LIBRARY_PATH = "/x" } } do
      local identity = new(environment).identity
      assert.is_nil(seen[identity])
      seen[identity] = true
    end
    assert.is_true(seen[new({ CC = "gcc" }).identity])
    helper.write(wrapper, '#!/bin/sh\nexec cc -DOTHER "$@"\n')
    assert.is_nil(seen[new({ CC = wrapper }).identity])
  end)

  it("knows the operating system by the triple, and the flags that it needs", function()
    local function named(triple)
      local path = helper.file(("#!/bin/sh\necho %s\n"):format(triple), "cc")
      os.execute("chmod +x " .. path)
      local self = new { CC = path }
      return { self.system, #self.compiler - 1 }
    end
    assert.same({ "linux", 0 }, named("x86_64-linux-gnu"))
    assert.same({ "linux", 0 }, named("riscv64-alpine-linux-musl"))
    assert.same({ "windows", 7 }, named("x86_64-w64-mingw32"))
    assert.same({ "macos", 1 }, named("aarch64-unknown-macos"))
    assert.same({ "macos", 1 }, named("arm64-apple-darwin23.1.0"))
  end)

  it("refuses a compiler that is not there", function()
    for _, word in ipairs { "/nonexistent/cc", "no-such-compiler", "/tmp" } do
      local fault = helper.fault(new, { CC = word })
      assert.equal(4, fault.code)
      assert.same({ ("cannot compile: there is no compiler %s (CC)"):format(word) }, fault.lines)
    end
  end)

  it("asks pkg-config for MPI, by the name that ATTN2C_MPI gives", function()
    local folder, about = helper.folder(), "Name: x\nDescription: x\nVersion: 1\nLibs: "
    for name, libraries in pairs { ["mpi-c"] = "-lfirst", other = "-lother -lmore" } do
      helper.write(("%s/%s.pc"):format(folder, name), about .. libraries .. "\n")
    end
    local before = { libuv.os_getenv("PKG_CONFIG_LIBDIR") }
    libuv.os_setenv("PKG_CONFIG_LIBDIR", folder)
    finally(function()
      if before[1] then libuv.os_setenv("PKG_CONFIG_LIBDIR", before[1]) else libuv.os_unsetenv("PKG_CONFIG_LIBDIR") end
    end)
    assert.same({ "-lfirst" }, new({}).mpi("--libs"))
    assert.same({ "-lother", "-lmore" }, new({ ATTN2C_MPI = "other" }).mpi("--libs"))
    helper.write(folder .. "/mpich.pc", about .. "-lmpich\n")
    os.remove(folder .. "/mpi-c.pc")
    assert.same({ "-lmpich" }, new({}).mpi("--libs"))
    os.remove(folder .. "/mpich.pc")
    local function line(environment)
      local fault = helper.fault(new(environment).mpi, "--libs")
      assert.equal(4, fault.code)
      return fault.lines[1]
    end
    assert.equal("ranks need MPI, but pkg-config knows no mpi-c and no mpich: install pkg-config, and libopenmpi-dev "
      .. "or libmpich-dev", line {})
    assert.equal('ATTN2C_MPI: pkg-config knows no "none"', line { ATTN2C_MPI = "none" })
  end)

  it("notices another file of a library", function()
    local folder = helper.folder()
    local self = new { ATTN2C_LDFLAGS = "-L" .. folder }
    local before = self.libraries("x")
    helper.write(folder .. "/libx.a", "one")
    assert.is_not.equal(before, self.libraries("x"))
    assert.truthy(self.libraries("m"):find("%d"))
  end)
end)
