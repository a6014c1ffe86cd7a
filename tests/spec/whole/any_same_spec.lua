-- any_same_spec.lua: a sequence of a model of any length has the same bits on all targets with fused multiply-adds (an
-- emulator runs aarch64), and whatever the greatest length of the model is. Tiles of AMX have bits of their own.
local helper = require("tests.spec.helper")
local checkpoints = require("tests.spec.checkpoint")
local files = require("common.files")
local targets = require("data.targets")

local root = helper.absolute_root()
local folder = root .. "/out/spec/any_same"
local shell = helper.shell

-- Lengths whose last vectors of keys are not whole, on some target or on all; 65 begins a second panel of keys.
local LENGTHS = { 1, 7, 16, 17, 40, 3, 9, 12, 65 }

local MODELS = {
  floats = [[return { name = "floats", seq = %s, d_model = 48, heads = 4, layers = 2, norm = "pre", final_norm = true,
    positions = "alibi", kv_heads = 2 }]],
  window = [[return { name = "window", seq = %s, d_model = 48, heads = 3, layers = 1, positions = "rope",
    mask = { "causal", window = { 20, 0 } } }]],
  integers = [[return { name = "integers", seq = %s, d_model = 48, heads = 4, layers = 1,
    precision = { "int8", attention = "bf16" } }]],
}

local function sh(command) return helper.succeeds(command, folder) end

-- Builds a model in a folder of its own, and returns its output as bytes. start: words before the program.
local function answer(name, place, words, environment, start)
  sh(("%s lua5.4 %s %s.lua %s %s"):format(environment, shell(root .. "/tests/program.lua"), name,
    place, words))
  sh(("%s %s/%s run --weights %s.st --input hidden=hidden.npy --input lengths=lengths.npy --output hidden=got.npy")
    :format(start, place, name, name))
  local bytes = files.read(folder .. "/got.npy")
  os.remove(folder .. "/got.npy")
  return bytes
end

describe("a sequence of any length", function()
  setup(function()
    files.make_folder(folder)
    local rows, values = 0, {}
    for _, length in ipairs(LENGTHS) do rows = rows + length end
    for i = 1, rows * 48 do values[i] = math.sin(i * i % 1000) end
    helper.write(folder .. "/hidden.npy", checkpoints.npy(("%d, 48"):format(rows), values, true))
    helper.write(folder .. "/lengths.npy", checkpoints.npy(("%d,"):format(#LENGTHS), LENGTHS))
    for name, text in pairs(MODELS) do
      helper.write(("%s/%s.lua"):format(folder, name), text:format(70))
      helper.write(("%s/%s.st"):format(folder, name), checkpoints.text(("%s/%s.lua"):format(folder, name), "F32"))
      helper.write(("%s/%s.lua"):format(folder, name), text:format("any(70)"))
    end
  end)

  -- The window's model has numbers in f32, too.
  for name in pairs(helper.is_long and MODELS or { window = true, integers = true }) do
    it("has the same bits on all targets, and up to any length: " .. name, function()
      local runs = targets.runs_on(targets.machine(os.getenv))
      local expected = answer(name, name .. "_arm", "target=aarch64", "CC=aarch64-linux-gnu-gcc",
        "qemu-aarch64 -L /usr/aarch64-linux-gnu")
      assert.is_true(#expected > 170 * 48 * 4)
      local compared = 0
      for _, target in ipairs { "avx2", "avx512" } do
        if runs(target) then
          compared = compared + 1
          local got = answer(name, ("%s_%s"):format(name, target), "target=" .. target, "", "")
          assert.is_true(got == expected, target .. ": other bits than on aarch64")
        end
      end
      if compared == 0 then return end -- no machine to compare with
      local own = runs("amx") and "target=amx" or ""
      if runs("amx") then expected = answer(name, name .. "_tiles", own, "", "") end
      for _, most in ipairs { 65, 300 } do
        local got = answer(name, ("%s_%d"):format(name, most), ("'seq=any(%d)' %s"):format(most, own), "", "")
        assert.is_true(got == expected, ("other bits with any(%d)"):format(most))
      end
    end)
  end
end)
