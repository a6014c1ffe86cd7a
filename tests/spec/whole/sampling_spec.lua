-- sampling_spec: the tokens that runtime/generate draws, and the bits of their probabilities, are the same by every
-- compiler, with flags that allow other roundings, and on another processor.
local helper = require("tests.spec.helper")

local SOURCES = { "tests/c/sample_bits.c", "runtime/base/attn2c.c", "runtime/base/utf8.c", "runtime/system/linux.c" }
for _, name in ipairs { "dry", "penalties", "sample", "sample_chain", "sample_keep", "sample_logits", "sampling",
  "select" } do
  SOURCES[#SOURCES + 1] = "runtime/generate/" .. name .. ".c"
end

-- Compilers with their flags, and the command that runs the result. The flags of the runtime come first.
local BUILDS = {
  { "gcc", "-O2 -fopenmp-simd" },
  { "gcc", "-O0 -fopenmp-simd" },
  { "gcc", "-Ofast -march=native -ffp-contract=fast -fopenmp-simd" },
  { "clang", "-O2 -fopenmp-simd" },
  { "clang", "-Ofast -march=native -ffp-contract=fast -fopenmp-simd" },
  { "aarch64-linux-gnu-gcc", "-O2 -ffp-contract=fast -fopenmp-simd -static", "qemu-aarch64" },
  { "riscv64-linux-gnu-gcc", "-O2 -ffp-contract=fast -fopenmp-simd -static", "qemu-riscv64" },
}

local function has(command) return (helper.run("command -v " .. command)) == 0 end

local function printed_by(folder, compiler, flags, runs)
  local result = folder .. "/sample_bits"
  helper.succeeds(("%s -std=c11 -Wall -Wextra -Werror %s -iquote runtime -iquote tests/c -o %s %s -lm"):format(compiler,
    flags, result, table.concat(SOURCES, " ")), helper.absolute_root())
  return helper.succeeds((runs and runs .. " " or "") .. result)
end

describe("sampling", function()
  it("draws the same tokens with the same bits, however it is compiled", function()
    local expected
    for _, build in ipairs(helper.sample(BUILDS, 2)) do
      local compiler, flags, runs = table.unpack(build)
      if has(compiler) and (not runs or has(runs)) then
        local printed = printed_by(helper.folder(), compiler, flags, runs)
        expected = expected or printed
        assert.equal(100, select(2, expected:gsub("\n", "")))
        helper.same_text(expected, printed, compiler .. " " .. flags)
      end
    end
  end)
end)
