-- emulator_spec: programs for another processor go to an emulator, all others are started as they are.
local helper = require("tests.spec.helper")
local emulator = require("common.emulator")
local lfs = require("lfs")
local uv = require("common.libuv")

local numbers = { x86_64 = 62, aarch64 = 183, riscv64 = 243 }

-- The head of a program for a processor.
local function program(number)
  return helper.file("\x7fELF\2\1\1" .. ("\0"):rep(9) .. string.pack("<I2I2", 2, number), "program")
end

-- The head of a program for Windows.
local windows = "MZ\x90\0\3" .. ("\0"):rep(20)

local function there(name) return "/bin/" .. name end
local function no_static(name) return name:find("-static", 1, true) and "/bin/" .. name or nil end
local function nowhere() return nil end

describe("a built program", function()
  after_each(helper.clean)

  it("for this machine, or of no kind that is known, is started itself", function()
    for _, path in ipairs { program(numbers[uv.os_uname().machine]), program(3), helper.file("#!/bin/sh\n", "script"),
      helper.file("", "empty"), "/nonexistent" } do
      local words = { path, "check", "a b" }
      assert.same({ path, "check", "a b" }, emulator.words(words, nowhere))
    end
  end)

  it("of a name without / is one of PATH, whatever lies in the working directory", function()
    local other = uv.os_uname().machine == "aarch64" and "x86_64" or "aarch64"
    local before, folder = lfs.currentdir(), program(numbers[other]):match("^(.*)/")
    lfs.chdir(folder)
    local ok, words = pcall(emulator.words, { "program", "x" }, there)
    lfs.chdir(before)
    assert.same({ true, { "program", "x" } }, { ok, words })
  end)

  it("for another one is started by its emulator, which is looked for under both of its names", function()
    for machine, number in pairs(numbers) do
      if machine ~= uv.os_uname().machine then
        local path = program(number)
        for find, ending in pairs { [there] = "", [no_static] = "-static" } do
          local words = emulator.words({ path, "check", "a b" }, find)
          assert.equal("/bin/qemu-" .. machine .. ending, words[1])
          assert.same({ path, "check", "a b" }, table.move(words, #words - 2, #words, 1, {}))
        end
        local fault = helper.fault(emulator.words, { path }, nowhere)
        assert.equal(6, fault.code)
        assert.matches("program: is for " .. machine .. ", which this machine does not run; qemu%-" .. machine,
          fault.lines[1])
      end
    end
  end)

  it("for Windows is started by wine", function()
    local path = helper.file(windows, "program.exe")
    assert.same({ "/bin/wine", path, "check" }, emulator.words({ path, "check" }, there))
    assert.matches("program.exe: is for Windows, which this machine does not run; wine does, of Debian's package wine$",
      helper.fault(emulator.words, { path }, nowhere).lines[1])
  end)
end)
